// Where clients and other clusters reach a development server: nobody has to be told what is on loopback alone.
import { addressText } from '../config/address-text.ts'
import { type ConfigPart, DEFAULT_CONFIG } from '../config/config.ts'

/**
 * Adds `api_addr`, if it is not given: the first TCP listener. `cluster_addr` follows from it and the cluster port, so
 * two development servers on one machine can replicate. A port that is picked at the start is not known here.
 */
export function withDevelopmentAddress(part: ConfigPart): ConfigPart {
  if (part.apiAddress !== undefined) return part
  const { listeners = DEFAULT_CONFIG.listeners } = part
  const first = listeners.find(({ address }) => address.kind === 'tcp')
  if (first?.address.kind !== 'tcp' || first.address.port === 0) return part
  const scheme = first.rules.tls === undefined ? 'http' : 'https'
  return { ...part, apiAddress: `${scheme}://${addressText(first.address)}` }
}
