// How many requests this server has answered since it started: one number in memory that all threads share.

/** 64 bits: it does not run over. */
export type SharedCount = BigInt64Array<SharedArrayBuffer>

export const newSharedCount = (): SharedCount =>
  new BigInt64Array(new SharedArrayBuffer(BigInt64Array.BYTES_PER_ELEMENT))

export const countOne = (count: SharedCount): void => {
  Atomics.add(count, 0, 1n)
}

export const countedSoFar = (count: SharedCount): number => Number(Atomics.load(count, 0))
