// The seal "static": a key of 32 bytes, given or named by the configuration, unseals the server at its start. With the
// key and the data one has everything, so the key belongs where the data are not.
import { readFileSync } from 'node:fs'
import type { StaticSealConfig } from '../config/seal.ts'
import { decodeKeyText } from '../crypto/forms/key-text.ts'
import { importSecret } from '../crypto/primitives/secret-key.ts'
import { own } from '../lib/own.ts'
import { type AutoSeal, AutoSealFailed } from '../system/seal/auto-seal.ts'

/**
 * Returns the seal. Keys are read when they are asked for, not now: `file://` names a file, `env://` a variable,
 * anything else is the key itself. With `previous`, a store sealed with the former key opens too.
 */
export function staticSeal({ keyId, key, previous }: StaticSealConfig, env: NodeJS.ProcessEnv): AutoSeal {
  const sources = new Map([[keyId, key]])
  if (previous !== undefined) sources.set(previous.keyId, previous.key)
  return {
    type: 'static',
    keyId,
    key: (wanted) => {
      const source = sources.get(wanted)
      return source === undefined ? undefined : readKey(wanted, source, env)
    },
  }
}

const FILE = 'file://'
const VARIABLE = 'env://'

function readKey(keyId: string, source: string, env: NodeJS.ProcessEnv) {
  const text = readSource(keyId, source, env)
  const bytes = decodeKeyText(text)
  text.fill(0)
  if (bytes === undefined)
    throw new AutoSealFailed(`The static key "${keyId}" is not 32 bytes, in hexadecimal, base64 or as they are`)
  const key = importSecret(bytes)
  bytes.fill(0)
  return key
}

function readSource(keyId: string, source: string, env: NodeJS.ProcessEnv): Buffer {
  if (source.startsWith(FILE)) return readKeyFile(keyId, source.slice(FILE.length))
  if (!source.startsWith(VARIABLE)) return Buffer.from(source, 'latin1')
  const name = source.slice(VARIABLE.length)
  const value = own(env, name)
  if (value === undefined || value === '')
    throw new AutoSealFailed(`The static key "${keyId}" is missing: the variable ${name} is not set`)
  return Buffer.from(value, 'latin1')
}

function readKeyFile(keyId: string, path: string): Buffer {
  try {
    return readFileSync(path)
  } catch (cause) {
    const { code } = cause as NodeJS.ErrnoException
    throw new AutoSealFailed(`The static key "${keyId}" cannot be read from ${path} (${code})`)
  }
}
