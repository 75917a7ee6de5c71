import { cleanPath } from '../api-path.ts'
import { callCommand } from '../call-command.ts'
import { RemoteFailure } from '../cli-error.ts'
import { exactMember, isList, type Json } from '../exact-json.ts'
import { formatList } from '../output.ts'

/** `keywright list`: sends GET with `list=true`, since proxies may refuse the method LIST. */
export const list = callCommand({
  name: 'list',
  summary: 'List the names below a path',
  usage: 'PATH',
  completes: ['path'],
  describe: ['A name that ends in / is a folder.'],
  examples: ['list transit/keys', 'list sys/policies/acl'],
  request: ({ args: [typed = ''] }) => {
    const path = cleanPath(typed)
    return { doing: `listing ${path}`, method: 'GET', path, query: [['list', 'true']] }
  },
  missing: ({ args: [typed = ''] }) => nothingAt(typed),
  // Scripts for the reference's command line expect the names alone in JSON.
  part: (body, { args: [typed = ''] }) => namesOf(body, typed),
  table: (body, { args: [typed = ''] }) => formatList('Keys', namesOf(body, typed)),
})

const nothingAt = (typed: string): string => `No value found at ${cleanPath(typed)}`

/** A server may answer 200 without names: to the caller that is the same as nothing. */
function namesOf(body: Json, typed: string): readonly Json[] {
  const names = exactMember(exactMember(body, 'data'), 'keys')
  if (!isList(names)) throw new RemoteFailure(nothingAt(typed))
  return names
}
