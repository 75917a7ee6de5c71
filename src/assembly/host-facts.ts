// The machine as `sys/host-info` shows it: processors, memory, disks. Read from /proc on Linux, from the runtime
// elsewhere. What is not known is 0 or empty. Sizes are in bytes, times in seconds.
import { readFileSync, statfsSync } from 'node:fs'
import { arch, cpus, freemem, hostname, platform, release, totalmem, uptime, version } from 'node:os'
import type { Clock } from '../lib/world.ts'

/** The answer of `sys/host-info`, member by member. */
export type HostInfo = {
  readonly timestamp: string
  readonly cpu: readonly object[]
  readonly cpu_times: readonly object[]
  readonly disk: readonly object[]
  readonly host: object
  readonly memory: object
}

/** Reads the facts at the time of the call. `directory` is where the data are; undefined if they are in memory. */
export function readHostInfo(clock: Clock, directory: string | undefined): HostInfo {
  const nowMs = clock.nowMs()
  return {
    timestamp: new Date(nowMs).toISOString(),
    cpu: processors(),
    cpu_times: processorTimes(),
    disk: directory === undefined ? [] : disks(directory),
    host: machine(nowMs),
    memory: memory(),
  }
}

/** Returns '' if there is no such file, or it may not be read. */
function read(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}

/** Parses lines of the form `name : value` or `name=value`. */
function pairs(text: string, separator: ':' | '='): Map<string, string> {
  const lines = text.split('\n').map((line) => [line, line.indexOf(separator)] as const)
  return new Map(
    lines
      .filter(([, at]) => at > 0)
      .map(([line, at]) => [
        line.slice(0, at).trim(),
        line
          .slice(at + 1)
          .trim()
          .replaceAll('"', ''),
      ]),
  )
}

const leadingNumber = (text: string | undefined): number => Number.parseFloat(text ?? '') || 0

function processors(): object[] {
  const blocks = read('/proc/cpuinfo')
    .split('\n\n')
    .map((block) => pairs(block, ':'))
  return cpus().map(({ model, speed }, index) => {
    const about = blocks[index] ?? new Map<string, string>()
    return {
      cpu: index,
      vendorId: about.get('vendor_id') ?? '',
      family: about.get('cpu family') ?? '',
      model: about.get('model') ?? '',
      stepping: leadingNumber(about.get('stepping')),
      physicalId: about.get('physical id') ?? '',
      coreId: about.get('core id') ?? '',
      cores: 1,
      modelName: about.get('model name') ?? model.trim(),
      mhz: leadingNumber(about.get('cpu MHz')) || speed,
      cacheSize: leadingNumber(about.get('cache size')),
      flags: (about.get('flags') ?? '').split(' ').filter((flag) => flag !== ''),
      microcode: about.get('microcode') ?? '',
    }
  })
}

const TIMES = ['user', 'nice', 'system', 'idle', 'iowait', 'irq', 'softirq', 'steal', 'guest', 'guestNice'] as const
/** The unit of /proc/stat: 100 a second on every Linux that Node runs on. */
const TICKS = 100

function processorTimes(): object[] {
  const rows = read('/proc/stat')
    .split('\n')
    .filter((line) => /^cpu\d/.test(line))
    .map((line) => line.split(' '))
  const timesOf = (value: (name: (typeof TIMES)[number], at: number) => number): object =>
    Object.fromEntries(TIMES.map((name, at) => [name, value(name, at)]))
  if (rows.length > 0)
    return rows.map(([cpu, ...ticks]) => ({ cpu, ...timesOf((_name, at) => Number(ticks[at] ?? 0) / TICKS) }))
  return cpus().map(({ times }, index) => {
    const known: Readonly<Record<string, number>> = { ...times, system: times.sys }
    return { cpu: `cpu${index}`, ...timesOf((name) => (known[name] ?? 0) / 1000) }
  })
}

/** Shows only the file system that the data are on; others are not the server's business. */
function disks(directory: string): object[] {
  const { bsize, blocks, bavail, bfree, files, ffree } = statfsSync(directory)
  const used = (blocks - bfree) * bsize
  const usable = used + bavail * bsize
  const share = (part: number, whole: number): number => (whole === 0 ? 0 : (part / whole) * 100)
  return [
    {
      path: directory,
      fstype: fileSystemOf(directory),
      total: blocks * bsize,
      free: bavail * bsize,
      used,
      usedPercent: share(used, usable),
      inodesTotal: files,
      inodesUsed: files - ffree,
      inodesFree: ffree,
      inodesUsedPercent: share(files - ffree, files),
    },
  ]
}

function fileSystemOf(directory: string): string {
  const mounts = read('/proc/self/mounts')
    .split('\n')
    .map((line) => line.split(' '))
    .filter(([, path = '']) => path === '/' || directory === path || directory.startsWith(`${path}/`))
    .sort(([, a = ''], [, b = '']) => b.length - a.length)
  return mounts[0]?.[2] ?? ''
}

function machine(nowMs: number): object {
  const distribution = pairs(read('/etc/os-release'), '=')
  const seconds = Math.floor(uptime())
  return {
    hostname: hostname(),
    uptime: seconds,
    bootTime: Math.floor(nowMs / 1000) - seconds,
    procs: leadingNumber(read('/proc/loadavg').split(' ')[3]?.split('/')[1]),
    os: platform(),
    platform: distribution.get('ID') ?? platform(),
    platformFamily: distribution.get('ID_LIKE') ?? distribution.get('ID') ?? '',
    platformVersion: distribution.get('VERSION_ID') ?? version(),
    kernelVersion: release(),
    kernelArch: arch(),
    virtualizationSystem: '',
    virtualizationRole: '',
    // Left empty: the id of a machine is confidential (machine-id(5)).
    hostid: '',
  }
}

/** Names in the answer, and in /proc/meminfo. */
const MEMORY: Readonly<Record<string, string>> = {
  total: 'MemTotal',
  available: 'MemAvailable',
  free: 'MemFree',
  active: 'Active',
  inactive: 'Inactive',
  buffers: 'Buffers',
  cached: 'Cached',
  writeback: 'Writeback',
  dirty: 'Dirty',
  writebacktmp: 'WritebackTmp',
  shared: 'Shmem',
  slab: 'Slab',
  sreclaimable: 'SReclaimable',
  sunreclaim: 'SUnreclaim',
  pagetables: 'PageTables',
  swapcached: 'SwapCached',
  commitlimit: 'CommitLimit',
  committedas: 'Committed_AS',
  hightotal: 'HighTotal',
  highfree: 'HighFree',
  lowtotal: 'LowTotal',
  lowfree: 'LowFree',
  swaptotal: 'SwapTotal',
  swapfree: 'SwapFree',
  mapped: 'Mapped',
  vmalloctotal: 'VmallocTotal',
  vmallocused: 'VmallocUsed',
  vmallocchunk: 'VmallocChunk',
  hugepagestotal: 'HugePages_Total',
  hugepagesfree: 'HugePages_Free',
  hugepagesize: 'Hugepagesize',
}

/** `wired` and `laundry` exist on other systems only. */
function memory(): object {
  const known = pairs(read('/proc/meminfo'), ':')
  const bytesOf = (name: string): number => {
    const text = known.get(name)
    return leadingNumber(text) * (text?.endsWith(' kB') === true ? 1024 : 1)
  }
  const all = Object.fromEntries(Object.entries(MEMORY).map(([name, source]) => [name, bytesOf(source)]))
  const total = all.total || totalmem()
  const available = all.available || freemem()
  const used = total - available
  return { ...all, total, available, used, usedPercent: (used / total) * 100, wired: 0, laundry: 0 }
}
