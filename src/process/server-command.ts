// `keywright server`: its flags, what it prints at the start, and signals.
import { type ConfigPart, MAX_THREADS, type ServerConfig, settle } from '../config/config.ts'
import { firstOf } from '../config/environment.ts'
import { readConfig } from '../config/files.ts'
import { type GivenListener, isLoopback, listenersOf, parseAddress } from '../config/listener.ts'
import { DEFAULT_LOG, logFromEnvironment } from '../config/log.ts'
import { ConfigError } from '../config/values.ts'
import { SelfTestFailed } from '../crypto/self-test.ts'
import { parseHcl } from '../lib/hcl.ts'
import type { Log } from '../lib/log.ts'
import { newLogLevels } from '../lib/log-levels.ts'
import { logTo } from '../lib/log-writer.ts'
import { nearest } from '../lib/nearest.ts'
import { realWorld, type World } from '../lib/world.ts'
import { storageIn, storeLocation } from '../storage/drivers.ts'
import { StorageError } from '../storage/errors.ts'
import { withDevelopmentAddress } from './development-address.ts'
import { checkedConfig, logHardening } from './hardened-start.ts'
import { removePidFile, writePidFile } from './pid-file.ts'
import { type RunningServer, StartError, startServer } from './server.ts'

type Flags = {
  help: boolean
  dev: boolean
  config: readonly string[]
  data: string | undefined
  listen: string | undefined
  rootToken: string | undefined
  threads: number | undefined
}

const HELP = `Usage: keywright server [options]

  Starts a server. Requires -dev or -config; with both, listeners, storage and limits come from the configuration.

  -dev                            Run a development server, which initialises and unseals itself, keeps its unseal
                                  key beside its data, and listens on loopback only. Never use it for real secrets.
  -config=FILE|DIR                Configuration in HCL or JSON (docs/configuration.md); a directory stands for its
                                  .hcl and .json files. May be given several times; each key in one file only
  -data=DIR                       Data directory (default: ./data); overrides storage in the configuration
  -threads=N                      Threads that serve requests (default: cores minus one); one more thread writes
  -dev-root-token-id=TOKEN        Root token of the development server (VAULT_DEV_ROOT_TOKEN_ID)
  -dev-listen-address=HOST:PORT   Listen address (default: 127.0.0.1:8200) (VAULT_DEV_LISTEN_ADDRESS)
  -h, -help                       Show this help

  Flags take one or two dashes, with the value after "=" or as the next argument. KEYWRIGHT_DEV_LISTEN_ADDRESS and
  KEYWRIGHT_DEV_ROOT_TOKEN_ID take precedence over the variables in parentheses.
`

const VALUE_FLAGS = ['threads', 'config', 'data', 'dev-root-token-id', 'dev-listen-address'] as const
/**
 * Flags of the reference product's development mode. They change nothing: no token file is written, no engine is
 * mounted.
 */
const ACCEPTED_FLAGS = ['dev-no-store-token', 'dev-no-kv']
const KNOWN_FLAGS = [...VALUE_FLAGS, ...ACCEPTED_FLAGS, 'dev', 'help', 'h']

/** Flags win over variables of the environment. @throws StartError for a flag that is not known, or lacks its value */
function readFlags(words: readonly string[], env: NodeJS.ProcessEnv): Flags {
  const values = new Map<string, string>()
  const configs: string[] = []
  const flags: Flags = {
    help: false,
    dev: false,
    config: [],
    data: undefined,
    listen: undefined,
    rootToken: undefined,
    threads: undefined,
  }
  for (let i = 0; i < words.length; i++) {
    const word = words[i] as string
    const [name, inline] = splitFlag(word)
    if (name === 'help' || name === 'h') flags.help = true
    else if (name === 'dev') flags.dev = true
    else if (ACCEPTED_FLAGS.includes(name)) continue
    else if ((VALUE_FLAGS as readonly string[]).includes(name)) {
      const value = inline ?? words[++i]
      if (value === undefined || value === '') throw new StartError(`The flag -${name} needs a value`)
      if (name === 'config') configs.push(value)
      else values.set(name, value)
    } else throw new StartError(unknownFlag(word, name))
  }
  flags.config = configs
  flags.data = values.get('data')
  flags.listen = values.get('dev-listen-address') ?? firstOf(env, 'DEV_LISTEN_ADDRESS')?.value
  flags.threads = threadsIn(values.get('threads'))
  flags.rootToken = values.get('dev-root-token-id') ?? firstOf(env, 'DEV_ROOT_TOKEN_ID')?.value
  return flags
}

/** Returns the name, and the value if it is behind "=". */
function splitFlag(word: string): [string, string | undefined] {
  if (!word.startsWith('-')) return [word, undefined]
  const name = word.startsWith('--') ? word.slice(2) : word.slice(1)
  const equals = name.indexOf('=')
  return equals === -1 ? [name, undefined] : [name.slice(0, equals), name.slice(equals + 1)]
}

function unknownFlag(word: string, name: string): string {
  const near = nearest(name, KNOWN_FLAGS)
  const hint = near === undefined ? 'see keywright server -help' : `did you mean -${near}?`
  return `Unknown option "${word}" of keywright server, ${hint}`
}

/** Returns what files, environment and flags say together. @throws ConfigError, StartError */
function configOf(flags: Flags): ServerConfig {
  const file = readConfig(flags.config, process.env, { isPlainAllowed: flags.dev })
  if (!flags.dev && file.listeners === undefined)
    throw new ConfigError('The configuration has no listener: listener "tcp" { … } says where to listen')
  const listeners = flags.listen === undefined ? {} : { listeners: withAddress(file.listeners, flags.listen) }
  const data = flags.data === undefined ? {} : { storage: storageIn(flags.data, file.storage) }
  const threads = flags.threads === undefined ? {} : { threads: flags.threads }
  const logging = logFromEnvironment({ ...DEFAULT_LOG, ...file.logging }, (name) => firstOf(process.env, name)?.value)
  const given = { ...file, ...listeners, ...data, ...threads, logging }
  const config = settle(flags.dev ? withDevelopmentAddress(given) : given)
  if (flags.dev) requireLoopback(config)
  if (flags.dev && config.seal !== undefined)
    throw new StartError('The development server unseals itself: leave out seal "static", or -dev')
  if (flags.rootToken !== undefined && !isTokenText(flags.rootToken)) {
    throw new StartError('The flag -dev-root-token-id must be 1 to 512 printable ASCII characters')
  }
  return config
}

function requireLoopback({ listeners }: ServerConfig): void {
  for (const { address, clusterAddress } of listeners) {
    const hosts = [address.kind === 'tcp' ? address.host : [], clusterAddress?.host ?? []].flat()
    const other = hosts.find((host) => !isLoopback(host))
    if (other !== undefined) throw new StartError(`The development server listens on loopback only, not on ${other}`)
  }
}

/** Gives the address to the first TCP listener. */
function withAddress(given: ConfigPart['listeners'], text: string): readonly GivenListener[] {
  const listeners = given ?? listenersOf(parseHcl('listener "tcp" {}'), true).listeners ?? []
  const first = listeners.findIndex(({ address }) => address.kind === 'tcp')
  return listeners.map((listener, index) =>
    index === first ? { ...listener, address: { kind: 'tcp', ...parseAddress(text) } } : listener,
  )
}

function threadsIn(text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const threads = Number(text)
  if (Number.isInteger(threads) && threads >= 1 && threads <= MAX_THREADS) return threads
  throw new StartError(`The flag -threads must be a number from 1 to ${MAX_THREADS}`)
}

/** The token is sent in a header, so it must be printable ASCII without blanks. */
function isTokenText(text: string): boolean {
  return text.length <= 512 && [...text].every((character) => character > ' ' && character <= '~')
}

/**
 * Starts the server, which then lives until a signal. If it cannot start, prints a sentence with the reason and sets
 * the exit code to 1.
 */
export async function runServer(words: readonly string[]): Promise<void> {
  try {
    const flags = readFlags(words, process.env)
    if (flags.help) {
      process.stdout.write(HELP)
      return
    }
    if (!flags.dev && flags.config.length === 0)
      throw new StartError('Give -config=FILE, or -dev for a development server')
    await run(configOf(flags), flags)
  } catch (cause) {
    if (!isExplained(cause)) throw cause
    process.stderr.write(`keywright: ${cause.message}\n`)
    process.exitCode = 1
  }
}

/** True for an error whose message is a sentence for the operator; any other is a defect and keeps its stack. */
function isExplained(cause: unknown): cause is Error {
  return (
    cause instanceof StartError ||
    cause instanceof ConfigError ||
    cause instanceof StorageError ||
    cause instanceof SelfTestFailed
  )
}

/** EX_IOERR of sysexits(3), the same as EXIT_STORAGE_FAILED. */
const EXIT_FATAL = 74

/** Order matters: nothing is started before the checks have passed, and signals count from the start on. */
async function run(config: ServerConfig, flags: Flags): Promise<void> {
  const world = realWorld()
  const levels = newLogLevels(config.logging.level)
  const log = logTo(process.stderr, world.clock, { thread: 'watching', format: config.logging.format, levels })
  process.stdout.on('error', () => {})
  const onFatal = (reason: string): void => {
    log('error', 'Fatal error: the server stops', { reason })
    process.exit(EXIT_FATAL)
  }
  const development = flags.dev ? { rootToken: flags.rootToken } : undefined
  const start = { isDevelopment: flags.dev, configFiles: flags.config }
  const checked = await checkedConfig(config, start, world)
  const reread = () => configOf(flags)
  const starting = startServer({ config: checked, world, log, levels, development, onFatal, reread })
  // Not after the start: the first serving thread answers requests before the last one is there.
  handleSignals(starting, config)
  const server = await starting
  if (config.pidFile !== undefined) await keepPid(config.pidFile, server)
  warn(config, log, world)
  logHardening(checked, world, log)
  const listens = server.addresses.map((address) => `Keywright listens on ${address}\n`).join('')
  process.stdout.write(flags.dev ? developmentBanner(server, config) : listens)
}

/** Logs the warnings of the configuration again each day: the first lines of an old log are not read (threats P-61). */
function warn(config: ServerConfig, log: Log, world: World): void {
  for (const warning of config.warnings) log('warn', warning)
  world.timers.after(DAY_MS, () => warn(config, log, world))
}

const DAY_MS = 86_400_000

/** Writes the PID file. @throws StartError; then the server is stopped */
async function keepPid(path: string, server: RunningServer): Promise<void> {
  try {
    writePidFile(path, process.pid)
  } catch (cause) {
    await server.stop()
    throw new StartError(`pid_file ${path} cannot be written (${(cause as NodeJS.ErrnoException).code})`)
  }
}

/** A signal during the start takes effect when the server has started. A second one ends the process at once. */
function handleSignals(starting: Promise<RunningServer>, { pidFile }: ServerConfig): void {
  let stopping = false
  const stop = (): void => {
    if (stopping) process.exit(1)
    stopping = true
    starting
      .then((server) => server.stop())
      .then(
        () => {
          if (pidFile !== undefined) removePidFile(pidFile, process.pid)
          process.exit(0)
        },
        () => process.exit(1),
      )
  }
  process.on('SIGTERM', stop)
  process.on('SIGINT', stop)
  process.on('SIGHUP', () => {
    starting.then((server) => server.reload()).catch(() => {})
  })
}

function developmentBanner(server: RunningServer, config: ServerConfig): string {
  const { durable, where } = storeLocation(config.storage)
  const until = durable === undefined ? 'and are lost when it stops' : 'with the key that unseals them'
  const { unsealKey, rootToken = '' } = server.development ?? {}
  return `Keywright development server: not for real secrets. Its data are ${where}, ${until}.

    export VAULT_ADDR='${server.address}'
    export VAULT_TOKEN='${rootToken}'

Unseal Key: ${unsealKey ?? 'not stored here: a rekey has replaced it'}
Root Token: ${rootToken}

${server.addresses.map((address) => `Listening on ${address}\n`).join('')}`
}
