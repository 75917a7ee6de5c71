import { loopbackLinks } from '../fixtures/loopback-links.ts'
import { simulatedStage } from '../fixtures/simulated-stage.ts'
import { linksConformance } from './links.ts'

const POOR = { delayMs: 80, jitterMs: 40, bytesPerSecond: 1 << 20, lossPerThousand: 50 }

linksConformance('of TLS', loopbackLinks)
linksConformance('simulated', simulatedStage)
linksConformance('simulated, on a poor network', (nowMs) => simulatedStage(nowMs, POOR))
