import { existsSync, readFileSync } from 'node:fs'
import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { keyTypeConformance, type VectorFile } from './key-type.ts'

for (const type of KEY_TYPES.values()) keyTypeConformance(type, readVectors(type.name))

function readVectors(name: string): VectorFile | undefined {
  const file = new URL(`../vectors/${name}.json`, import.meta.url)
  return existsSync(file) ? JSON.parse(readFileSync(file, 'utf8')) : undefined
}
