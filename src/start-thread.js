// The entry of every thread of the program; its first argument is its role.
import './own-files.js'

/** @type {Record<string, () => Promise<unknown>>} */
const ROLES = {
  writer: () => import('./process/writer.ts'),
  serving: () => import('./process/serving.ts'),
  linking: () => import('./process/linking.ts'),
  slow: () => import('./process/slow-worker.ts'),
}

const role = process.argv[2] ?? ''
const load = Object.hasOwn(ROLES, role) ? ROLES[role] : undefined
if (load === undefined) throw new Error(`No thread has the role "${role}"`)
await load()
