// What one mount keeps of its cloud while its settings stay the same: documents and keys of the identity provider, this
// server's tokens, answers of the resource manager. Mounts share none of it (threats L-06).
import type { World } from '../../lib/world.ts'
import { AccessTokens, type Proofs } from './access-tokens.ts'
import type { PerHostQueues } from './call-gate.ts'
import { Directory, type TokenVersion } from './directory.ts'
import { Graph } from './graph.ts'
import { ResourceManager } from './resource-manager.ts'
import type { CloudSettings } from './settings.ts'
import { Upstream } from './upstream.ts'

/** The clients of one mount's cloud. Each service has its own lane, so that a slow one holds up no other. */
export class Provider {
  readonly settings: CloudSettings
  readonly directories: Readonly<Record<TokenVersion, Directory>>
  readonly tokens: AccessTokens
  readonly resources: ResourceManager
  readonly graph: Graph

  constructor(world: World, lanes: PerHostQueues, settings: CloudSettings, proofs: Proofs) {
    const { cloud, tenant, retries } = settings
    const identity = new Upstream(world, lanes.identity, retries)
    this.settings = settings
    this.directories = {
      v1: new Directory(world, identity, cloud, tenant, 'v1'),
      v2: new Directory(world, identity, cloud, tenant, 'v2'),
    }
    this.tokens = new AccessTokens(world, identity, settings, proofs)
    this.resources = new ResourceManager(world, new Upstream(world, lanes.resources, retries), this.tokens, cloud)
    this.graph = new Graph(new Upstream(world, lanes.graph, retries), this.tokens, cloud)
  }
}
