/** The version of this program; a test compares it with package.json. Clients decide by `reported_version` instead. */
export const VERSION = '0.1.0'
