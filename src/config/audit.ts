// The stanzas `audit`: devices that record from the first unseal on. Requests cannot remove them. The form of entries
// is that of docs/audit-format.md.
import type { ShownDevice } from '../api/audit.ts'
import { Refusal } from '../api/errors.ts'
import { API_SWITCH, type AuditSettings } from '../audit/device-changes.ts'
import { deviceSettings } from '../audit/device-options.ts'
import { blocksOf, type HclBlock, itemsOf } from '../lib/hcl.ts'
import type { HclObject } from '../lib/hcl-tree.ts'
import { dictionary } from '../lib/own.ts'
import { ConfigError, only, requireKnown, single, switchOf, textIn } from './values.ts'

const STANZA_KEYS = ['description', 'local', 'options']

/** Reads the declared devices and the switch for devices made by requests. Returns nothing for a file without them. */
export function auditOf(body: HclObject): { readonly audit?: Partial<AuditSettings> } {
  const declared = blocksOf(body, 'audit', 2).map(deviceOf)
  const twice = declared.find(({ path }, at) => declared.findIndex((other) => other.path === path) < at)
  if (twice !== undefined)
    throw new ConfigError(`there are two audit devices with the name "${twice.path.slice(0, -1)}"`)
  const hasSwitch = itemsOf(body, API_SWITCH).length > 0
  if (declared.length === 0 && !hasSwitch) return {}
  return {
    audit: {
      ...(declared.length === 0 ? {} : { declared }),
      ...(hasSwitch ? { allowsApi: switchOf(body, API_SWITCH) } : {}),
    },
  }
}

/** Reads one stanza: `audit "file" "name" { options { file_path = "…" } }`. */
function deviceOf({ labels: [type = '', name = ''], body, line }: HclBlock): ShownDevice {
  const where = `audit "${type}" "${name}"`
  if (!/^[\w.-]{1,100}$/.test(name))
    throw new ConfigError(`line ${line}: the name of an audit device must be letters, digits, "_", "-" and "."`)
  requireKnown(body, STANZA_KEYS, where)
  const options = optionsOf(body)
  try {
    // sys/audit checks options in the same way. Here a wrong one stops the start, and not the first request.
    deviceSettings(type, options, true)
  } catch (cause) {
    if (cause instanceof Refusal) throw new ConfigError(`line ${line}: ${where}: ${cause.message}`)
    throw cause
  }
  const local = switchOf(body, 'local')
  return { path: `${name}/`, type, description: textIn(body, 'description') ?? '', options, local }
}

/** Options are texts, as in requests: numbers and switches become their text. */
function optionsOf(body: HclObject): Record<string, string> {
  const block = only(body, 'options', 0)
  const options = dictionary<string>()
  for (const { key } of block?.body.items ?? []) {
    const value = single(block?.body as HclObject, key)
    if (value !== undefined && value !== null) options[key] = String(value)
  }
  return { ...options }
}
