// What all threads are told when the operator asks for a reload (SIGHUP).
import type { ServerConfig } from '../config/config.ts'
import type { TlsMaterials } from './listening.ts'

export type ReloadState = {
  /** As the files say now, where they can be used; each task takes what it can change while the server runs. */
  readonly config: ServerConfig
  /** For threads that listen. */
  readonly tls: TlsMaterials
}
