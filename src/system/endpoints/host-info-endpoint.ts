// sys/host-info: the machine that the server runs on. Differs: docs/differences.md#the-server.
import { type Endpoint, endpoint } from '../../api/endpoint.ts'
import { group, integer, listOf, mapOf, number, OTHERS, type Shapes, text } from '../../api/shape.ts'
import type { WithServices } from '../services.ts'

/** The parts of the system that this endpoint uses. */
type System = WithServices<'hostInfo'>

/** One processor; facts that the system does not tell are 0 or empty. */
const PROCESSOR: Shapes = {
  cpu: integer('Number'),
  vendorId: text('Maker'),
  family: text('Family'),
  model: text('Model'),
  stepping: integer('Stepping'),
  physicalId: text('Package'),
  coreId: text('Core'),
  cores: integer('Cores'),
  modelName: text('Name'),
  mhz: number('Clock rate now'),
  cacheSize: integer('Kilobytes'),
  flags: listOf(text('Flag'), 'What it can do'),
  microcode: text('Version of its microcode'),
}

const DISK: Shapes = {
  path: text('Directory of the data'),
  fstype: text('Kind of file system'),
  total: number('Bytes'),
  free: number('Bytes that the server may use'),
  used: number('Bytes'),
  usedPercent: number('Of what may be used'),
  inodesTotal: number('Inodes'),
  inodesUsed: number('Of them in use'),
  inodesFree: number('Of them free'),
  inodesUsedPercent: number('Of all'),
}

const HOST: Shapes = {
  hostname: text('Name'),
  uptime: integer('Seconds since its start'),
  bootTime: integer('When it started, seconds since the epoch'),
  procs: integer('Processes and threads'),
  os: text('Operating system'),
  platform: text('Distribution'),
  platformFamily: text('What the distribution comes from'),
  platformVersion: text('Version of the distribution'),
  kernelVersion: text('Version of the kernel'),
  kernelArch: text('Architecture'),
  virtualizationSystem: text('Empty: not looked for'),
  virtualizationRole: text('Empty: not looked for'),
  hostid: text('Empty: it is a secret of the machine'),
}

/** Reads the machine at each call. The names of members are those of the wire, with their camel case. */
export const hostInfo: Endpoint<System> = endpoint({
  id: 'host-info',
  operation: 'read',
  path: 'host-info',
  capability: 'read',
  runsOn: 'any-node',
  summary: 'Processors, memory and disk of the machine below this server',
  fields: {},
  response: {
    timestamp: text('When it was looked at'),
    cpu: listOf(group(PROCESSOR, 'Processor'), 'Processors'),
    cpu_times: listOf(group({ cpu: text('Name'), [OTHERS]: number('Seconds') }, 'Times'), 'What they did'),
    disk: listOf(group(DISK, 'Disk'), 'The file system of the data; empty where they are in memory'),
    host: group(HOST, 'Machine'),
    memory: mapOf(number('Bytes'), 'Memory, by kind; usedPercent is a share'),
  },
  handler: ({ services }: System) => ({ data: services.hostInfo() }),
})
