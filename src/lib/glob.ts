// The simple wildcard of parameter values in policies: a star at the start, at the end or at both.

/**
 * `a*` matches by prefix, `*a` by suffix, `*a*` by substring. A star elsewhere stands for itself. A pattern of one star
 * alone matches only the text `*`.
 */
export function matchGlob(pattern: string, text: string): boolean {
  if (pattern.length < 2) return pattern === text
  const opens = pattern.startsWith('*')
  const closes = pattern.endsWith('*')
  if (opens && closes) return text.includes(pattern.slice(1, -1))
  if (opens) return text.endsWith(pattern.slice(1))
  if (closes) return text.startsWith(pattern.slice(0, -1))
  return pattern === text
}
