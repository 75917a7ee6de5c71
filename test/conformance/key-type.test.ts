import { KEY_TYPES } from '../../src/crypto/key-types/key-types.ts'
import { vectorsOf } from '../fixtures/known-material.ts'
import { keyTypeConformance } from './key-type.ts'

for (const type of KEY_TYPES.values()) keyTypeConformance(type, vectorsOf(type.name))
