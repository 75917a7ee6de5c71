import { loopbackLinks } from '../fixtures/loopback-links.ts'
import { linksConformance } from './links.ts'

linksConformance('of TLS', loopbackLinks)
