// Checks the user, the memory and the limits of the process (B-01, B-04, B-05, B-12, B-16).
import { type Check, type Finding, ok, refusing, unknown, warn, worst } from './check.ts'
import type { Machine } from './machine.ts'
import type { HardeningSetting } from './setting.ts'

const NOT_LINUX = 'This can be checked on Linux only'

const plainUser: Check = {
  id: 'B-01',
  title: 'The server runs without privileges',
  group: 'process',
  how: 'user id; CapEff of /proc/self/status',
  again: true,
  run: (machine) => {
    if (machine.user === 0)
      return warn('The process runs as root: give the server a user of its own, as deploy/keywright.service does')
    if (machine.user === undefined) return unknown('This system has no user ids')
    const capabilities = statusLine(machine, 'CapEff')
    if (capabilities === undefined) return ok(`The process runs as user ${machine.user}`)
    if ([...capabilities].every((digit) => digit === '0'))
      return ok(`The process runs as user ${machine.user}, with no capabilities`)
    return warn(`The process has capabilities (CapEff ${capabilities}): start it with an empty CapabilityBoundingSet`)
  },
}

const swap: Check = {
  id: 'B-04',
  title: 'Memory is not swapped to disk',
  group: 'process',
  how: 'VmSwap, /proc/swaps, memory.swap.max of the control group',
  again: true,
  run: (machine) => {
    const swapped = statusLine(machine, 'VmSwap')
    const areas = machine.readText('/proc/swaps')?.trim().split('\n').slice(1)
    if (areas === undefined) return unknown(NOT_LINUX)
    if (swapped !== undefined && Number.parseInt(swapped, 10) > 0)
      return warn(
        `${swapped} of this process are in swap: disable swap, then rotate the keys and secrets that were in memory`,
      )
    if (areas.length === 0) return ok('Nothing can be swapped out: there is no swap')
    if (groupLimit(machine, 'memory.swap.max') === '0') return ok('Its control group has no swap')
    return warn('Keys in memory can be written to swap: disable swap, or set MemorySwapMax=0 for the server')
  },
}

const coreDumps: Check = {
  id: 'B-05',
  title: 'No core dumps',
  group: 'process',
  how: '/proc/self/limits, /proc/self/coredump_filter',
  again: true,
  run: (machine) => {
    const limit = limitOf(machine, 'Max core file size')
    if (limit === undefined) return unknown(NOT_LINUX)
    const filter = machine.readText('/proc/self/coredump_filter')?.trim() ?? ''
    const isEmpty = [...filter].every((digit) => digit === '0')
    if (limit === '0' || isEmpty) return ok(limit === '0' ? 'Their size limit is 0' : 'Core dumps hold no memory')
    return warn('A crash would write all keys to a file: set LimitCORE=0, or run `ulimit -c 0` before the start')
  },
}

/** Each connection takes a descriptor. */
const WANTED_FILES = 65_536
const MEBIBYTE = 2 ** 20
/** Memory of an idle server, and what each serving thread adds. Measured; docs/performance.md. */
const BASE_BYTES = 96 * MEBIBYTE
const THREAD_BYTES = 40 * MEBIBYTE
/** Least heap limit that passes without a warning. */
const LEAST_HEAP_BYTES = 256 * MEBIBYTE

const resources: Check = {
  id: 'B-12',
  title: 'Enough file descriptors and memory',
  group: 'process',
  how: '/proc/self/limits, heap limit, memory.max of the control group',
  again: true,
  run: (machine, setting) => worst([files(machine), heap(machine), memory(machine, setting)]),
}

function files(machine: Machine): Finding {
  const limit = limitOf(machine, 'Max open files')
  if (limit === undefined) return unknown(NOT_LINUX)
  if (limit === 'unlimited' || Number(limit) >= WANTED_FILES) return ok(`${limit} open files are allowed`)
  return warn(
    `Only ${limit} files and connections can be open: set LimitNOFILE=${WANTED_FILES}, or raise \`ulimit -n\``,
  )
}

function heap({ heapLimitBytes }: Machine): Finding {
  if (heapLimitBytes >= LEAST_HEAP_BYTES) return ok('')
  return warn(`The heap is limited to ${inMebibytes(heapLimitBytes)}: leave --max-old-space-size out`)
}

function memory(machine: Machine, { threads, maxBodyBytes }: HardeningSetting): Finding {
  const limit = Number(groupLimit(machine, 'memory.max') ?? 'max')
  if (!Number.isFinite(limit)) return ok('')
  const needed = BASE_BYTES + threads * THREAD_BYTES + maxBodyBytes
  if (limit < needed)
    return refusing(
      `The control group allows ${inMebibytes(limit)}: give it ${inMebibytes(needed)}, or use fewer threads`,
    )
  if (limit >= 2 * needed) return ok('')
  return warn(
    `The control group allows ${inMebibytes(limit)}, which may not suffice under load: give it ` +
      inMebibytes(2 * needed),
  )
}

const inMebibytes = (bytes: number): string => `${Math.floor(bytes / MEBIBYTE)} MiB`

/** No rights for group and others. */
const WANTED_UMASK = 0o077

const mask: Check = {
  id: 'B-16',
  title: 'New files are private to their owner',
  group: 'process',
  how: 'umask, which the server sets itself',
  again: true,
  run: ({ umask }) =>
    umask === WANTED_UMASK
      ? ok('The umask is 077')
      : warn(`The umask is ${umask.toString(8).padStart(3, '0')}: start it with keywright server, which sets 077`),
}

/** Returns the value of a line of the status: `VmSwap:\t 0 kB` gives `0 kB`. */
function statusLine(machine: Machine, name: string): string | undefined {
  const line = machine
    .readText('/proc/self/status')
    ?.split('\n')
    .find((each) => each.startsWith(`${name}:`))
  return line?.slice(name.length + 1).trim()
}

/** Returns the soft limit of a line such as `Max open files 1024 4096 files`. */
function limitOf(machine: Machine, name: string): string | undefined {
  const line = machine
    .readText('/proc/self/limits')
    ?.split('\n')
    .find((each) => each.startsWith(name))
  return line?.slice(name.length).trim().split(' ')[0]
}

/**
 * Returns a limit of this control group, or of the nearest group above it that has one. Only version 2 of control
 * groups is read; a limit of 'max' is none.
 */
function groupLimit(machine: Machine, name: string): string | undefined {
  const line = machine
    .readText('/proc/self/cgroup')
    ?.split('\n')
    .find((each) => each.startsWith('0::'))
  if (line === undefined) return undefined
  const parts = line
    .slice(3)
    .split('/')
    .filter((part) => part !== '')
  for (let count = parts.length; count >= 0; count--) {
    const path = ['/sys/fs/cgroup', ...parts.slice(0, count), name].join('/')
    const value = machine.readText(path)?.trim()
    if (value !== undefined && value !== 'max') return value
  }
  return undefined
}

/** B-01, B-04, B-05, B-12 and B-16, for `CHECKS` in report.ts. */
export const PROCESS_CHECKS: readonly Check[] = [plainUser, swap, coreDumps, resources, mask]
