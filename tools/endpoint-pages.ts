// Writes docs/api: one page for each table of endpoints, and the index of all.
import type { Endpoint } from '../src/api/endpoint.ts'
import { defaultOf, flatFields, METHODS, rangeOf } from '../src/api/help.ts'
import { parsePattern } from '../src/api/pattern.ts'
import { OTHERS, type Shape, type Shapes } from '../src/api/shape.ts'
import type { EndpointTable } from './endpoint-tables.ts'
import { cell } from './errors-page.ts'
import { exampleText } from './example.ts'

const note = (source: string): string =>
  `<!-- Written by tools/generate.ts from ${source}: change the definitions, not this page. -->`

/** Values that each kind of field accepts (src/api/fields.ts). */
const KINDS: Readonly<Record<string, string>> = {
  string: 'Text. A number counts as its text, true and false as `1` and `0`, null as empty.',
  int: 'A whole number, or text of one: `5`, `-1`, `0x10`, `0o17`, `017`, `0b11`, `1_000`; empty text is 0.',
  version: 'As int, or `latest`, which is 0: the latest version of a key.',
  number: 'number',
  bool: '`true`, `false`, 1, 0, or text: `true`, `t`, `1`, `false`, `f`, `0`; empty text is false.',
  'signed duration': 'As duration, and negative ones have a meaning of their own.',
  duration: 'Seconds, as number or text, or text such as `90m`, `1h30m`, `2d`; empty text is 0. Not negative.',
  bytes: 'Base64 (RFC 4648 section 4).',
  strings: 'An array of texts, or one text with commas between them; empty text is an empty list.',
  map: 'An object of texts.',
  object: 'An object with the fields that the table names behind a dot.',
  batch: 'An array of objects with the fields that the table names behind `[]`. Their values are not converted.',
}

/** Returns docs/api/README.md. */
export function indexPage(tables: readonly EndpointTable[]): string {
  const lines = tables.flatMap(({ file, mountPath, endpoints }) =>
    endpoints.map((endpoint) => {
      const heading = headingOf(mountPath, endpoint)
      return `| [\`${heading}\`](${file}#${anchorOf(heading)}) | ${cell(endpoint.summary)} |\n`
    }),
  )
  const kinds = Object.entries(KINDS).map(([kind, text]) => `| ${kind} | ${text} |\n`)
  return `# API

${note('the tables of endpoints')}

Paths are below \`/v1/\`. \`:x\` stands for one name (letters, digits and \`_\`; inside also \`-\` and \`.\`),
\`:x...\` for the rest of the path, slashes included. POST and PUT are the same and take their fields from a JSON
object, PATCH from one of the type \`application/merge-patch+json\`; all others take them from the query. LIST is also
GET with \`?list=true\`, and SCAN with \`?scan=true\`. The token travels in \`X-Vault-Token\`, or as
\`Authorization: Bearer\`; the [namespace](../namespaces.md) in \`X-Vault-Namespace\`, or before the path.

Unless a page says otherwise, an answer has its members in \`data\`, inside an envelope with \`request_id\`,
\`warnings\` and \`auth\`. Refusals are listed in [errors.md](../errors.md); the same tables as a machine reads them
are in [openapi.json](openapi.json), and each server gives those of its own mounts at
\`/v1/sys/internal/specs/openapi\`.

| Endpoint | |
|---|---|
${lines.join('')}
## Kinds of fields

A field that is not sent has its default. Null counts as not sent, for all kinds but string.

| Kind | Takes |
|---|---|
${kinds.join('')}`
}

/** Returns the page of one table. */
export function endpointPage(table: EndpointTable): string {
  const sections = table.endpoints.map((endpoint) => endpointSection(table, endpoint))
  const about = table.examples === undefined ? table.about : `${table.about}\n\n${ABOUT_EXAMPLES}`
  return `# ${table.title}\n\n${note(table.source)}\n\n${about}\n\n${sections.join('\n')}`
}

const ABOUT_EXAMPLES =
  'The examples are calls of one server, which a test makes again. They show the body of a request and the `data` of ' +
  'its answer; every request has its token in a header, too. What is another text each time (ciphertexts, ' +
  'signatures, keys) is of one run, and where it is long it ends in `…`.'

function headingOf(mountPath: string, { operation, path }: Endpoint): string {
  return `${METHODS[operation]} /v1/${mountPath}${path}`
}

/** Returns the anchor that renderers of Markdown give a heading. */
function anchorOf(heading: string): string {
  return [...heading.toLowerCase()]
    .map((character) => (character === ' ' ? '-' : character))
    .filter(
      (character) =>
        (character >= 'a' && character <= 'z') || (character >= '0' && character <= '9') || '-_'.includes(character),
    )
    .join('')
}

function endpointSection({ mountPath, examples }: EndpointTable, endpoint: Endpoint): string {
  const { summary, describe } = endpoint
  const parts = [
    `## \`${headingOf(mountPath, endpoint)}\``,
    describe === undefined ? `${summary}.` : `${summary}. ${describe}`,
    `${accessOf(endpoint)} ${placeOf(endpoint)} Its id is \`${endpoint.id}\`.`,
    ...fieldsTable(endpoint),
    ...answerTable(endpoint),
    ...(examples === undefined ? [] : exampleText(examples, endpoint, mountPath)),
  ]
  return `${parts.join('\n\n')}\n`
}

function accessOf({ capability, sudo }: Endpoint): string {
  if (capability === 'none') return 'Needs no token.'
  if (capability === 'create-or-update') return 'Needs `create` on the path, or `update` where the thing is there.'
  return `Needs \`${capability}\`${sudo === true ? ' and `sudo`' : ''} on the path.`
}

/** What the mark of an endpoint that not every namespace has to itself says of it. */
const OFFERED = {
  root: 'Is offered in the root namespace alone.',
  'root-keys': 'Is offered in the root namespace alone: no other has keys of its own.',
  all: 'Answers in each namespace as in the root.',
} as const

function placeOf({ runsOn, whileSealed, offeredIn }: Endpoint): string {
  const place = [runsOn === 'writer' ? 'Runs where writes are made.' : 'Runs where it arrives.']
  if (offeredIn !== undefined) place.push(OFFERED[offeredIn])
  if (whileSealed === true) place.push('Answers while the server is sealed, too.')
  return place.join(' ')
}

/** What each mark of `Endpoint.writes` means to a caller. */
const WRITES = {
  set: 'data that all clusters of a set share',
  cluster: 'data of its own cluster',
  node: 'data of its own node, or memory alone',
  mount: 'data of its mount: shared, or of its own cluster if the mount is local',
  given: 'shared data, or data of its own cluster or node: the request decides',
  both: 'shared data first, then data of its own cluster',
} as const

const writesOf = ({ writes }: Endpoint): keyof typeof WRITES | undefined =>
  typeof writes === 'function' ? 'given' : writes

/** Where the primary comes in, if a performance secondary has the endpoint. */
function onSecondary({ runsOn, writes, onlyOnPrimary }: Endpoint): string {
  if (onlyOnPrimary === true) return 'refused, with 400, where it would write shared data'
  if (writes === 'cluster' || writes === 'node') return 'here'
  if (writes === 'both') return 'shared data by the primary, the rest here'
  if (runsOn === 'writer') return 'by the primary, if it is shared data'
  return 'here; by the primary once it is to write shared data'
}

/** Returns docs/api/clusters.md: what endpoints do where several clusters hold the same data. */
export function clustersPage(tables: readonly EndpointTable[]): string {
  const all = tables.flatMap(({ file, mountPath, endpoints }) =>
    endpoints.map((endpoint) => {
      const heading = headingOf(mountPath, endpoint)
      return { endpoint, link: `[\`${heading}\`](${file}#${anchorOf(heading)})` }
    }),
  )
  const writing = all.flatMap(({ endpoint, link }) => {
    const mark = writesOf(endpoint)
    return mark === undefined ? [] : [row([link, `\`${mark}\``, onSecondary(endpoint)])]
  })
  const meanings = Object.entries(WRITES).map(([mark, text]) => row([`\`${mark}\``, text]))
  const answering = all.flatMap(({ endpoint, link }) =>
    endpoint.onDrSecondary === undefined ? [] : [row([link, `\`${endpoint.onDrSecondary}\``])],
  )
  return `# Endpoints in a set of clusters

${note('the tables of endpoints')}

Clusters that replicate from one another are a set. What an endpoint may write decides which of them carries a request
out. Endpoints that are not listed write nothing.

${table(['Writes', ''], meanings)}

${table(['Endpoint', 'Writes', 'Carried out on a performance secondary'], writing)}

## Secondaries for disaster recovery

A secondary for disaster recovery serves no client. While it is unsealed it answers the endpoints of this table, and
those that its listener opens to callers without a token (metrics, profiles, requests under way). Every other request
gets 400 and \`path disabled in replication DR secondary mode\`. An endpoint with \`open\` answers all callers; one with
\`operation-token\` answers holders of such a token, which travels in the body as \`dr_operation_token\`: one that was
generated there with the key shares of the primary, or a batch token of the primary without a parent whose policy allows
\`update\` on the path.

${table(['Endpoint', 'Answers'], answering)}
`
}

function fieldsTable({ fields, path }: Endpoint): string[] {
  const flat = flatFields(fields)
  if (flat.length === 0) return []
  const inPath = new Set(parsePattern(path).flatMap((segment) => (segment.kind === 'literal' ? [] : [segment.name])))
  const rows = flat.map(([name, field]) => {
    if (KINDS[field.kind] === undefined) throw new Error(`The kind of field ${field.kind} is not described`)
    const kind = [field.kind, rangeOf(field)].filter((text) => text !== undefined).join(', ')
    const required = inPath.has(name) ? 'in the path' : field.required ? 'yes' : ''
    const secret = fields[name]?.secret === true ? 'yes' : ''
    const fallback = defaultOf(field)
    const cells = [
      `\`${name}\``,
      kind,
      required,
      fallback === undefined ? '' : `\`${fallback}\``,
      secret,
      field.description,
    ]
    return row(cells)
  })
  return [table(['Field', 'Kind', 'Required', 'Default', 'Secret', 'Meaning'], rows)]
}

const row = (cells: readonly string[]): string => `| ${cells.map(cell).join(' | ')} |`

function table(heads: readonly string[], rows: readonly string[]): string {
  return [row(heads), `|${'---|'.repeat(heads.length)}`, ...rows].join('\n')
}

function answerTable({ mayBeEmpty, alwaysWarns, wrappedWithout, response, body, givesToken }: Endpoint): string[] {
  if (givesToken === true) return ['Answers 200 with the token in `auth`.']
  if (alwaysWarns === true) return ['Answers 200 with a warning.']
  if (response === undefined) return ['Answers 204 without a body, or 200 where there are warnings.']
  const where = {
    envelope: 'in `data`',
    plain: 'at the top level, without the envelope',
    both: 'in `data` and at the top level',
  }
  const rows = flatShapes(response, '').map(([name, shape]) => row([`\`${name}\``, kindOf(shape), shape.about]))
  const empty = mayBeEmpty === true ? ', or 204 without a body' : ''
  const members = `with these members ${where[body ?? 'envelope']}${empty}:`
  return [
    wrappedWithout === undefined
      ? `Answers 200 ${members}`
      : `Answers 200: without \`${wrappedWithout}\` with the token in \`wrap_info.token\`, otherwise ${members}`,
    table(['Member', 'Kind', 'Meaning'], rows),
  ]
}

/** Returns all members; inner ones have their whole name: `config.max_lease_ttl`, `batch_results[].error`. */
function flatShapes(shapes: Shapes, prefix: string): (readonly [string, Shape])[] {
  return Object.entries(shapes).flatMap(([name, shape]) => {
    const whole = prefix + (name === OTHERS ? ':name' : name)
    return [[whole, shape] as const, ...insideOf(shape, whole)]
  })
}

function insideOf(shape: Shape, name: string): (readonly [string, Shape])[] {
  if (shape.is === 'object') return flatShapes(shape.members, `${name}.`)
  if (shape.is !== 'list' && shape.is !== 'map') return []
  return insideOf(shape.of, shape.is === 'list' ? `${name}[]` : `${name}.:name`)
}

function kindOf(shape: Shape): string {
  const whole = shape.is === 'list' || shape.is === 'map' ? `${shape.is} of ${shape.of.is}` : shape.is
  const values = shape.is === 'string' ? shape.oneOf?.map((value) => JSON.stringify(value)) : undefined
  const kind = values === undefined ? whole : `${whole}, one of ${values.join(', ')}`
  return `${kind}${shape.nullable === true ? ' or null' : ''}${shape.optional === true ? ', may be missing' : ''}`
}
