// What the server says of itself. Fields are names and numbers, never values that a caller sent and never an error
// object of a parser, which quotes its input (threats N-08, U-05).
export type LogLevel = 'debug' | 'info' | 'warn' | 'error'
export type LogFields = Readonly<Record<string, string | number | boolean>>
export type Log = (level: LogLevel, message: string, fields?: LogFields) => void
