// What a performance secondary and its primary say to each other about a request that the primary carries out. All of
// it is plain data.
import type { EnsuredEntity, WantedEntity } from '../api/login.ts'
import type { Answer } from '../api/request.ts'
import type { Exchange } from './exchange.ts'

/**
 * The caller of a handed request, as the secondary asserts it. The primary evaluates the named policies, and those of
 * the entity and its groups, anew. The token itself stays where it is valid.
 */
export type AssertedCaller = {
  readonly policies: readonly string[]
  /** Id of the namespace of its token, in which these policies are. */
  readonly namespace: string
  /** '' if there is none. */
  readonly entityId: string
  /**
   * The memberships in groups that logins on the secondary gave the entity. What the groups are is shared. Whether a
   * membership counts is for the primary to say: group or alias may be others since.
   */
  readonly groups: readonly string[]
  readonly displayName: string
  readonly metadata: Readonly<Record<string, string>> | null
  readonly tokenType: 'service' | 'batch'
}

/**
 * A request that is handed over. Its input goes as it came: what the primary judges, decodes and carries out is then
 * the same thing (docs/decisions/0019-handed-requests.md).
 */
export type HandedRequest = {
  readonly id: string
  /** The endpoint that the secondary found; the primary must find the same. */
  readonly endpoint: string
  /** UUID of the mount: its path may have changed meanwhile. */
  readonly mount: string
  /** Path inside the mount, in canonical spelling. */
  readonly path: string
  /** The names in the path as the caller wrote them. The primary takes them if they mean the path. */
  readonly givenNames: Readonly<Record<string, string>> | undefined
  readonly method: Exchange['method']
  readonly query: string
  readonly body: Uint8Array | undefined
  readonly contentType: string | undefined
  /** Headers that some mount passes on to its engine. */
  readonly passed: Readonly<Record<string, string>> | undefined
  readonly remoteAddress: string
  /** How long the answer is to stay wrapped there; 0: it is not. Policies may require it. */
  readonly wrapTtlSeconds: number
  /** Undefined if the endpoint needs no token and got none. */
  readonly caller: AssertedCaller | undefined
}

/** A question of an engine to the same mount on the primary. */
export type MountQuestion = { readonly mount: string; readonly question: unknown }

/** A place of the primary's log, which its performance secondaries follow. */
export type WrittenAt = {
  /** In hexadecimal digits. */
  readonly historyId: string
  /** The last change of class `replicated` up to there. */
  readonly index: number
}

/**
 * Where the primary stands when it answers. Whatever the answer rests on is there, written by this call or found by it,
 * so a secondary that has come to this place shows it. Undefined: the primary does not tell.
 */
type Written = { readonly written: WrittenAt | undefined }

/** The link to the primary, as the rooms of a secondary use it. */
export type ToPrimary = {
  /** Has the request carried out. @throws Refusal as the primary threw it, or if the primary cannot be reached */
  readonly carryOut: (request: HandedRequest) => Promise<CarriedOut>
  /** Returns the entity, which is made if there is none. @throws Refusal as `carryOut` */
  readonly ensureEntity: (wanted: WantedEntity) => Promise<EntityThere>
  /** Returns what the engine of the mount answers there. @throws Refusal as `carryOut` */
  readonly askMount: (asked: MountQuestion) => Promise<MountAnswer>
}

/** What became of a request that was handed over. */
export type CarriedOut = Written & { readonly answer: Answer }
/** The entity of a login, as the primary has it. */
export type EntityThere = Written & { readonly entity: EnsuredEntity }
/** What the engine of a mount answers on the primary. */
export type MountAnswer = Written & { readonly answer: unknown }

/** A secondary, as its primary knows it: by its certificate, not by what it says. */
export type Secondary = {
  /** The name it was registered under; audit logs show it. */
  readonly name: string
  /** True while it is not known what it has: `refresh` first. Until then it has nothing. */
  readonly stale: boolean
  readonly refresh: () => Promise<void>
  /** Stands for what `reaches` goes by: another value after each change of the filter. */
  readonly rule: unknown
  /** True if the secondary has the mount, by its UUID: a filter may keep it from there. */
  readonly reaches: (mount: string) => boolean
  /** True if no filter keeps anything from it. */
  readonly hasAll: boolean
}
