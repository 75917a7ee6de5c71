// Requests that are shown instead of sent: as a command of curl, or as the policy that allows them.
import { type ApiAddress, type ApiCall, httpRequest } from '../client/wire.ts'
import { CliError } from './cli-error.ts'
import { capabilityOf } from './remote-error.ts'

/** The two forms, of -output-curl-string and -output-policy. */
export type Shows = 'curl' | 'policy'

/** Ends a command successfully: the message is the result. It is thrown, since no answer comes to go on with. */
export class ShownRequest extends CliError {
  override name = 'ShownRequest'
}

/** Returns the error to throw in place of sending. */
export function shownRequest(shows: Shows, server: ApiAddress, call: ApiCall): ShownRequest {
  return new ShownRequest(shows === 'curl' ? curlCommand(server, call) : policyText(call))
}

/** Returns a command of curl. The token is fetched when it runs: the text can be handed on and kept. */
function curlCommand(server: ApiAddress, call: ApiCall): string {
  const { method, url, headers, body } = httpRequest(server, call)
  const shown = Object.entries(headers).map(([name, value]) =>
    name === 'X-Vault-Token' ? `-H "${name}: $(keywright print token)"` : `-H ${quoted(`${name}: ${value}`)}`,
  )
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  const data = body === undefined ? [] : [`-d ${quoted(body)}`]
  return ['curl', ...verb, ...shown, ...data, quoted(url.href)].join(' ')
}

/** Quotes a text for a POSIX shell: a single quote ends the quotes, stands escaped, and begins them anew. */
function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

/** A write may create or update; what it will be is not known without asking, so the policy allows both. */
function policyText(call: ApiCall): string {
  const { method, path } = call
  const capabilities = method === 'PUT' || method === 'POST' ? ['create', 'update'] : [capabilityOf(call)]
  const list = capabilities.map((each) => `"${each}"`).join(', ')
  return `path ${JSON.stringify(path)} {\n  capabilities = [${list}]\n}`
}
