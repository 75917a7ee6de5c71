// Notes what the primary wrote for a request of a performance secondary, whatever room asked the primary.
import { AsyncLocalStorage } from 'node:async_hooks'

/** `index`: how far the primary's log went behind it; 0: it was not asked. `isLate`: not all of it has come here. */
export type PrimaryWrites = { index: number; isLate: boolean }

/** Work that is run in it has its calls of the primary noted. */
export const primaryWrites: AsyncLocalStorage<PrimaryWrites> = new AsyncLocalStorage()
