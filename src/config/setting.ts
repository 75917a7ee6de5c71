// A key of the configuration. A stanza is a table of these: the keys it accepts, the keys it refuses, and
// docs/configuration.md all follow from it.

/** A key, by what the server makes of it. */
export type Setting =
  | { readonly kind: 'offered'; readonly type: string; readonly default: string; readonly effect: string }
  /** Known from the reference and harmless without effect: accepted, with a warning in the log. */
  | { readonly kind: 'ignored'; readonly why: string }
  /** Known from the reference, and relied on by those who set it: the start stops, and the remedy is named. */
  | { readonly kind: 'refused'; readonly remedy: string }

/** Keys by name. */
export type SettingTable = Readonly<Record<string, Setting>>

/** A stanza as docs/configuration.md shows it. */
export type Stanza = { readonly title: string; readonly about: string; readonly settings: SettingTable }

/** Makes a key that is offered. `missing` says for the page what holds without it; code has the default itself. */
export const setting = (type: string, missing: string, effect: string): Setting => ({
  kind: 'offered',
  type,
  default: missing,
  effect,
})
/** Makes a key that is accepted and does nothing; the warning gives the reason. */
export const ignored = (why: string): Setting => ({ kind: 'ignored', why })
/** Makes a key that stops the start unless its value is false. */
export const refused = (remedy: string): Setting => ({ kind: 'refused', remedy })
