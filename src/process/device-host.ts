// Starts the device process, and gives each thread its handle to it (docs/decisions/0010-pkcs11.md).
import { fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { MessageChannel } from 'node:worker_threads'
import type { ServerConfig } from '../config/config.ts'
import type { Log } from '../lib/log.ts'
import type { World } from '../lib/world.ts'
import { type DeviceProcess, DeviceQueue } from '../managed-keys/device-queue.ts'
import type { FromDevices } from '../managed-keys/orders.ts'
import { isBindingInstalled, NOT_INSTALLED } from '../managed-keys/pkcs11-binding.ts'
import type { DeviceHandle } from './device-handle.ts'

/** The devices as the watching thread holds them. */
export type RunningDevices = {
  /** Returns the handle for one more thread; undefined if the configuration has no device. */
  newHandle(): DeviceHandle | undefined
  stop(): Promise<void>
}

/** Prepares the queue to the devices. Their process is started with the first order, not now. */
export function startDevices(config: ServerConfig, world: World, log: Log): RunningDevices {
  const { kmsLibraries } = config
  if (kmsLibraries.length === 0) return { newHandle: () => undefined, stop: async () => {} }
  if (!isBindingInstalled()) log('warn', `Requests that use managed keys will fail: ${NOT_INSTALLED}`)
  const names = kmsLibraries.map(({ name }) => name)
  const running = new Set<Promise<void>>()
  const queue = new DeviceQueue({
    libraries: Object.fromEntries(kmsLibraries.map(({ name, library }) => [name, library])),
    start: () => {
      const started = startProcess(config, world)
      running.add(started.ended)
      void started.ended.then(() => running.delete(started.ended))
      return started.process
    },
    timers: world.timers,
    pinSalt: world.random.bytes(SALT_BYTES).toString('hex'),
    log,
  })
  return {
    newHandle: () => {
      const { port1, port2 } = new MessageChannel()
      queue.addThread(port1)
      port1.unref()
      return { port: port2, libraries: names }
    },
    stop: async () => {
      await queue.stop()
      await Promise.all(running)
    },
  }
}

/** The salt under which PINs that a device refused are remembered. */
const SALT_BYTES = 32

/** The one flag of the server that the device process must not have: it forbids loading libraries, its very purpose. */
const NO_ADDONS = '--no-addons'

/** How long the process gets to end by itself: enough to close sessions with a device in the network. */
const POLITE_MS = 2_000

type Started = { readonly process: DeviceProcess; readonly ended: Promise<void> }

function startProcess(config: ServerConfig, { timers }: World): Started {
  const child = fork(fileURLToPath(new URL('./device-process.ts', import.meta.url)), [], {
    execArgv: process.execArgv.filter((flag) => flag !== NO_ADDONS),
    env: withoutSecrets(process.env, config),
    serialization: 'advanced',
    // Output of a library goes where the log of the server goes.
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
  })
  const ended = new Promise<void>((resolve) => {
    child.once('exit', () => resolve())
    // Sent if the process could not be started at all.
    child.once('error', () => resolve())
  })
  const end = async (how: 'politely' | 'now'): Promise<void> => {
    if (how === 'politely' && child.connected) {
      child.disconnect()
      const timer = timers.after(POLITE_MS, () => child.kill('SIGKILL'))
      await ended
      timer.cancel()
    } else child.kill('SIGKILL')
    await ended
  }
  return {
    ended,
    process: {
      send: (message) => child.send(message),
      end,
      onMessage: (listener) => child.on('message', (message) => listener(message as FromDevices)),
      onEnd: (listener) => {
        child.on('error', (cause) => listener(cause.name))
        child.on('exit', (code, signal) => listener(signal ?? `exit code ${code}`))
      },
    },
  }
}

const FROM_ENVIRONMENT = 'env://'

/**
 * Libraries are configured by variables of their makers, so the process gets all variables except those that open this
 * server.
 */
function withoutSecrets(env: NodeJS.ProcessEnv, { seal }: ServerConfig): NodeJS.ProcessEnv {
  const keys = [seal?.key, seal?.previous?.key].flatMap((key) =>
    key?.startsWith(FROM_ENVIRONMENT) === true ? [key.slice(FROM_ENVIRONMENT.length)] : [],
  )
  const hidden = new Set([...keys, 'VAULT_TOKEN'])
  return Object.fromEntries(Object.entries(env).filter(([name]) => !hidden.has(name)))
}
