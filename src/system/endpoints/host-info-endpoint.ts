// sys/host-info: the machine that the server runs on. Differs: docs/differences.md#the-server.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { group, integer, listOf, mapOf, number, OTHERS, type Shapes, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that this endpoint uses. */
type System = WithServices<'hostInfo'>

/** One processor; facts that the system does not tell are 0 or empty. */
const PROCESSOR: Shapes = {
  cpu: integer('Number of the logical processor'),
  vendorId: text('Vendor'),
  family: text('CPU family'),
  model: text('CPU model number'),
  stepping: integer('Stepping'),
  physicalId: text('Physical package ID'),
  coreId: text('Core ID'),
  cores: integer('Number of cores'),
  modelName: text('Model name'),
  mhz: number('Current clock rate, in MHz'),
  cacheSize: integer('Cache size, in kilobytes'),
  flags: listOf(text('Flag'), 'Feature flags'),
  microcode: text('Microcode version'),
}

const DISK: Shapes = {
  path: text('Data directory'),
  fstype: text('Type of the file system'),
  total: number('Size, in bytes'),
  free: number('Space available to the server, in bytes'),
  used: number('Space in use, in bytes'),
  usedPercent: number('Space in use, as a percentage of the usable space'),
  inodesTotal: number('Number of inodes'),
  inodesUsed: number('Number of inodes in use'),
  inodesFree: number('Number of free inodes'),
  inodesUsedPercent: number('Inodes in use, as a percentage of all'),
}

const HOST: Shapes = {
  hostname: text('Host name'),
  uptime: integer('Uptime, in seconds'),
  bootTime: integer('Boot time, Unix time in seconds'),
  procs: integer('Number of processes and threads'),
  os: text('Operating system'),
  platform: text('Distribution'),
  platformFamily: text('Family of the distribution'),
  platformVersion: text('Distribution version'),
  kernelVersion: text('Kernel version'),
  kernelArch: text('Machine architecture'),
  virtualizationSystem: text('Always empty: not detected'),
  virtualizationRole: text('Always empty: not detected'),
  hostid: text('Always empty: the host ID is confidential'),
}

/** Reads the machine at each call. The names of members are those of the wire, with their camel case. */
export const hostInfo: Endpoint<System> = endpoint({
  id: 'host-info',
  operation: 'read',
  path: 'host-info',
  capability: 'read',
  offeredIn: 'root',
  runsOn: 'any-node',
  summary: 'Shows the processors, memory and disk of the machine that the server runs on',
  fields: {},
  response: {
    timestamp: text('Time of the measurement'),
    cpu: listOf(group(PROCESSOR, 'Processor'), 'Processors'),
    cpu_times: listOf(
      group(
        { cpu: text('Name of the processor'), [OTHERS]: number('Time spent in this state, in seconds') },
        'CPU times',
      ),
      'CPU times, by processor',
    ),
    disk: listOf(group(DISK, 'Disk'), 'File system of the data directory; empty if the data is in memory'),
    host: group(HOST, 'Machine'),
    memory: mapOf(number('Size in bytes'), 'Memory by kind, in bytes; usedPercent is a percentage'),
  },
  handler: ({ services }: System) => ({ data: services.hostInfo() }),
})
