// What a key of the configuration is. A stanza is a table of these: what it takes, what it refuses and
// docs/configuration.md all follow from it.

export type Setting =
  | { readonly kind: 'offered'; readonly type: string; readonly default: string; readonly effect: string }
  /** Known from the reference and harmless to leave out: taken, with a line in the log. */
  | { readonly kind: 'ignored'; readonly why: string }
  /** Known from the reference, and what it asks for would not be done. */
  | { readonly kind: 'refused'; readonly remedy: string }

export type SettingTable = Readonly<Record<string, Setting>>

/** A stanza, as the page shows it. */
export type Stanza = { readonly title: string; readonly about: string; readonly settings: SettingTable }

/** `missing` is what counts without it, as the page shows it. */
export const setting = (type: string, missing: string, effect: string): Setting => ({
  kind: 'offered',
  type,
  default: missing,
  effect,
})
export const ignored = (why: string): Setting => ({ kind: 'ignored', why })
export const refused = (remedy: string): Setting => ({ kind: 'refused', remedy })
