// Most commands are one request and the printing of its answer. Their definitions say which request, and how the answer
// looks; the rest is here.

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

/** A command of one request. `Definition` in command.ts is the general form, which this is turned into. */
type CallDefinition<T extends OptionTable> = {
  readonly name: string
  readonly summary: string
  /** Arguments in order. Those in brackets may be missing; one that ends in `…` may come several times. */
  readonly usage: string
  readonly describe?: readonly string[]
  readonly examples: readonly string[]
  readonly completes?: readonly Completes[]
  /** Options beside COMMON_OPTIONS. */
  readonly options?: T
  /** Makes the request. May throw a UsageError about the arguments, before anything is sent. */
  readonly request: (call: CommandCall<Options<T>>) => ApiRequest | Promise<ApiRequest>
  /** Says to a person that it is done, if the answer has nothing to show. */
  readonly done?: (call: CommandCall<Options<T>>) => string
  /** Says that nothing is stored at the path. A command that defines it tells a bare 404 from other refusals. */
  readonly missing?: (call: CommandCall<Options<T>>) => string
  /** Picks the part of the answer that programs get, as `-format=json`; all of it by default. */
  readonly part?: (body: Json, call: CommandCall<Options<T>>) => Json
  /** Formats the whole answer for a person; names and values by default. */
  readonly table?: (body: Json, call: CommandCall<Options<T>>) => string
}

/**
 * Makes a command of a request. The number of arguments follows from `usage`, so the help cannot say another one.
 * The command fails with RemoteFailure if the server refuses, or gives an empty answer where one is to be printed.
 */
export function callCommand<const T extends OptionTable = Record<never, never>>(
  definition: CallDefinition<T>,
): Command {
  const { name, summary, usage, describe = [], examples, completes = [] } = definition
  const options = { ...(definition.options ?? {}), ...COMMON_OPTIONS } as Options<T>
  const run = (call: CommandCall<Options<T>>): Promise<ExitCode> => runCall(definition, call)
  return command({ name, summary, usage, describe, examples, completes, options, args: countArgs(usage), run })
}

/** Counts the arguments of a usage line: `PATH [NAME=VALUE…]` needs one, and allows any number. */
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
    // -field looks in the whole answer, by the names of table rows: a part has lost the members around it.
    const shown = options.field === undefined && part !== undefined ? part(body, call) : body
    const asTable = table === undefined ? undefined : () => table(body, call)
    await printAnswer(io, options, shown, asTable)
  }
  return 0
}

function isWrapped(body: Json | undefined): body is Json {
  return body !== undefined && (exactMember(body, 'wrap_info') ?? null) !== null
}

/**
 * Returns the given options as fields of a request, each under its own name with `_` for `-`. Options that were not
 * given are left out, so that the server applies its own defaults; so is a flag that says false.
 */
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
