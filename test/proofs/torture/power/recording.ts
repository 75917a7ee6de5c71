// A server whose every call that reaches the disk, and every answer, is written down.
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { PROJECT, type RunningProcess, watchServer } from '../../../fixtures/server-process.ts'
import { RECORDING } from './disk-log.ts'

export type RecordedServer = RunningProcess & {
  readonly token: string
  /** Ends the server and waits until the recording is whole. */
  end(): Promise<void>
}

/** Starts a development server on a free port, recorded into `log`. */
export async function startRecorded(
  data: string,
  log: string,
  env: Readonly<Record<string, string>> = {},
): Promise<RecordedServer> {
  const server = [
    'server',
    '-dev',
    '-dev-root-token-id=root',
    '-dev-listen-address=127.0.0.1:0',
    '-threads=2',
    '-data',
    data,
  ]
  const tracer = spawn('strace', [...RECORDING, '-o', log, join(PROJECT, 'bin/keywright'), ...server], {
    stdio: ['ignore', 'pipe', 'pipe'],
    detached: true,
    env: { ...process.env, VAULT_ADDR: '', VAULT_TOKEN: '', ...env },
  })
  const ended = once(tracer, 'exit')
  const group = -Number(tracer.pid)
  const running = await watchServer(tracer)
  return {
    ...running,
    token: 'root',
    end: async () => {
      if (tracer.exitCode === null && tracer.signalCode === null) process.kill(group, 'SIGTERM')
      await ended
    },
    kill: async () => {
      if (tracer.exitCode === null && tracer.signalCode === null) process.kill(group, 'SIGKILL')
      await ended
    },
  }
}
