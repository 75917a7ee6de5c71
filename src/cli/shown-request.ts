// Requests that are shown instead of being sent: as a command of curl, or as the policy that allows them.
import { type ApiAddress, type ApiCall, httpRequest } from '../client/wire.ts'
import { CliError } from './cli-error.ts'
import { capabilityOf } from './remote-error.ts'

export type Shows = 'curl' | 'policy'

/** Ends a command well: what was asked for is the text. */
export class ShownRequest extends CliError {
  override name = 'ShownRequest'
}

export function shownRequest(shows: Shows, place: ApiAddress, call: ApiCall): ShownRequest {
  return new ShownRequest(shows === 'curl' ? curlCommand(place, call) : policyText(call))
}

/** The token is not part of it, so that it can be handed on. */
function curlCommand(place: ApiAddress, call: ApiCall): string {
  const { method, url, headers, body } = httpRequest(place, call)
  const shown = Object.entries(headers).map(([name, value]) =>
    name === 'X-Vault-Token' ? `-H "${name}: $(keywright print token)"` : `-H ${quoted(`${name}: ${value}`)}`,
  )
  const verb = method === 'GET' ? [] : [`-X ${method}`]
  const data = body === undefined ? [] : [`-d ${quoted(body)}`]
  return ['curl', ...verb, ...shown, ...data, quoted(url.href)].join(' ')
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", `'\\''`)}'`
}

function policyText({ method, path, query }: ApiCall): string {
  const listing = query?.some(([name]) => name === 'list') ?? false
  const capabilities = method === 'PUT' || method === 'POST' ? ['create', 'update'] : [capabilityOf(method, listing)]
  const list = capabilities.map((each) => `"${each}"`).join(', ')
  return `path ${JSON.stringify(path)} {\n  capabilities = [${list}]\n}`
}
