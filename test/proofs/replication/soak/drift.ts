// Whether what a process takes grows as it lives. Each life is a line of its own: a restart begins anew, and says
// nothing. The slope is the one that all lives have together, by least squares around the means of each.

/**
 * The first minutes of a life are not judged. Under the load of a soak, memory rises by a fifth within ten to twenty
 * minutes, and the heaps of all threads with it; a slope over these says nothing of later ones.
 */
const WARM_UP_MS = 20 * 60_000
/** A sample is the least of so long: between collections memory goes up and down. */
const BUCKET_MS = 60_000
const HOUR_MS = 3_600_000
const LEAST_BUCKETS = 10

export type Sample = {
  /** Cluster and number of its start. */
  readonly life: string
  /** Since the run began, and since the life began. */
  readonly atMs: number
  readonly ageMs: number
  readonly value: number
}

export type Drift = {
  readonly perHour: number
  /** Standard error of the slope. */
  readonly error: number
  readonly buckets: number
}

type Point = { readonly x: number; readonly y: number }

/** The slope over samples from then on; undefined where there are too few of them. */
export function driftOf(samples: readonly Sample[], fromMs: number): Drift | undefined {
  const lives = new Map<string, Map<number, number>>()
  for (const { life, atMs, ageMs, value } of samples) {
    if (atMs < fromMs || ageMs < WARM_UP_MS) continue
    const buckets = lives.get(life) ?? new Map<number, number>()
    lives.set(life, buckets)
    const bucket = Math.floor(atMs / BUCKET_MS)
    buckets.set(bucket, Math.min(value, buckets.get(bucket) ?? Number.POSITIVE_INFINITY))
  }
  const points = [...lives.values()].flatMap(aroundMeans)
  const spread = points.reduce((sum, { x }) => sum + x * x, 0)
  if (points.length < LEAST_BUCKETS || spread === 0) return undefined
  const slope = points.reduce((sum, { x, y }) => sum + x * y, 0) / spread
  const left = points.reduce((sum, { x, y }) => sum + (y - slope * x) ** 2, 0)
  // Each life has a mean of its own, and there is one slope.
  const freedom = points.length - lives.size - 1
  const error = freedom > 0 ? Math.sqrt(left / freedom / spread) : Number.POSITIVE_INFINITY
  return { perHour: slope, error, buckets: points.length }
}

function aroundMeans(buckets: ReadonlyMap<number, number>): readonly Point[] {
  const points = [...buckets].map(([bucket, y]) => ({ x: (bucket * BUCKET_MS) / HOUR_MS, y }))
  const mean = (of: 'x' | 'y'): number => points.reduce((sum, point) => sum + point[of], 0) / points.length
  const [x, y] = [mean('x'), mean('y')]
  return points.map((point) => ({ x: point.x - x, y: point.y - y }))
}
