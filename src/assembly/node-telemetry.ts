// Telemetry as the assembly is given it.

import { newLogLevels } from '../lib/log-levels.ts'
import type { World } from '../lib/world.ts'
import type { LimitMemory } from '../quotas/limit-table.ts'
import { FIRST_SERVING_ROW } from '../telemetry/cells.ts'
import { Telemetry } from '../telemetry/telemetry.ts'
import { ALL_ENDPOINTS } from './engine-types.ts'
import { newSharedTelemetry } from './shared-telemetry.ts'

/** The telemetry of one thread, and the counts of quotas that all threads share. */
export type NodeTelemetry = { readonly telemetry: Telemetry; readonly limits: LimitMemory }

/** Makes the telemetry of a server with one thread: in memory, or in a test. */
export function aloneTelemetry(world: World): NodeTelemetry {
  const { metrics, levels, limits } = newSharedTelemetry(world.random, newLogLevels('info'), 1)
  const parts = { world, memory: metrics, row: FIRST_SERVING_ROW, endpoints: ALL_ENDPOINTS, levels, threads: 1 }
  return { telemetry: new Telemetry(parts), limits }
}
