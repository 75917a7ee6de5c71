// This program's own version, held against package.json by a test. What clients gate on is `reported_version`.
export const VERSION = '0.1.0'
