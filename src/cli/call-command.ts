// Most commands are one request and the printing of its answer: they say which, and how it looks.

import { own } from '../lib/own.ts'
import { type ExitCode, RemoteFailure } from './cli-error.ts'
import type { ApiRequest } from './client.ts'
import { type Command, type CommandCall, type Completes, command } from './command.ts'
import { COMMON_OPTIONS } from './common-options.ts'
import { connect } from './connect.ts'
import { exactMember, type Json } from './exact-json.ts'
import type { OptionTable } from './options.ts'
import { printAnswer, printDone } from './output.ts'

type Options<T extends OptionTable> = T & typeof COMMON_OPTIONS

type CallDefinition<T extends OptionTable> = {
  readonly name: string
  readonly summary: string
  /** Arguments, those in brackets may be missing; the last may come several times where it ends in `…`. */
  readonly usage: string
  readonly describe?: readonly string[]
  readonly examples: readonly string[]
  readonly completes?: readonly Completes[]
  /** Beside those that all commands share. */
  readonly options?: T
  /** What is asked. It may refuse the arguments. */
  readonly request: (call: CommandCall<Options<T>>) => ApiRequest | Promise<ApiRequest>
  /** Said to a person where the answer has nothing to show. */
  readonly done?: (call: CommandCall<Options<T>>) => string
  /** Said where there is nothing at the path: then that is told from other refusals. */
  readonly missing?: (call: CommandCall<Options<T>>) => string
  /** The part of the answer that programs get; all of it by default. */
  readonly part?: (body: Json, call: CommandCall<Options<T>>) => Json
  /** How a person sees it; names and values by default. */
  readonly table?: (body: Json, call: CommandCall<Options<T>>) => string
}

export function callCommand<const T extends OptionTable = Record<never, never>>(
  definition: CallDefinition<T>,
): Command {
  const { name, summary, usage, describe = [], examples, completes = [] } = definition
  const options = { ...(definition.options ?? {}), ...COMMON_OPTIONS } as Options<T>
  const run = (call: CommandCall<Options<T>>): Promise<ExitCode> => runCall(definition, call)
  return command({ name, summary, usage, describe, examples, completes, options, args: countArgs(usage), run })
}

/** `PATH [NAME=VALUE…]`: one argument is needed, and there may be any number. */
function countArgs(usage: string): { needed: readonly string[]; most: number } {
  const words = usage.match(/\[[^\]]*\]|\S+/g) ?? []
  const needed = words.filter((word) => !word.startsWith('['))
  return { needed, most: usage.includes('…') ? Number.POSITIVE_INFINITY : words.length }
}

async function runCall<T extends OptionTable>(
  definition: CallDefinition<T>,
  call: CommandCall<Options<T>>,
): Promise<0> {
  const { request, done, missing, part, table } = definition
  const { io } = call
  const options = call.options as CommandCall<typeof COMMON_OPTIONS>['options']
  const asked = await request(call)
  const client = connect(io, options)
  const body = (missing === undefined ? await client.send(asked) : await client.find(asked))?.body
  if (isWrapped(body)) await printAnswer(io, options, body)
  else if (done !== undefined) await printDone(io, options, body, done(call))
  else if (body === undefined) throw new RemoteFailure(missing?.(call) ?? `Error ${asked.doing}: the answer is empty`)
  else {
    const shown = options.field === undefined && part !== undefined ? part(body, call) : body
    const asTable = table === undefined ? undefined : () => table(body, call)
    await printAnswer(io, options, shown, asTable)
  }
  return 0
}

function isWrapped(body: Json | undefined): body is Json {
  return body !== undefined && (exactMember(body, 'wrap_info') ?? null) !== null
}

/** The given options as fields of a request: each under its own name, `-` as `_`; what was not given is not sent. */
export function givenFields(
  options: Readonly<Record<string, unknown>>,
  names: readonly string[],
): Record<string, unknown> {
  const given = names.flatMap((name) => {
    const value = own(options, name)
    const isMissing = value === undefined || value === false || (Array.isArray(value) && value.length === 0)
    return isMissing ? [] : [[name.replaceAll('-', '_'), value] as const]
  })
  return Object.fromEntries(given)
}
