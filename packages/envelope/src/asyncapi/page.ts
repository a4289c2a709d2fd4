import { createHash } from 'node:crypto'
import { script, style } from './page-assets.ts'
import {
  type AsyncApiDocument,
  type AsyncApiMessage,
  type AsyncApiOperation,
  type JsonSchema,
  nameIn,
} from './types.ts'

/** The content security policy, which allows only the page's own style and script, by hash. */
export const asyncApiPageSources = {
  styleSrc: [`'${hashOf(style)}'`],
  scriptSrc: [`'${hashOf(script)}'`],
  formAction: ["'none'"],
}

/**
 * Returns the document as an HTML page that loads no other files.
 * @param documentUrl the address of the AsyncAPI document, to which the page links
 */
export function asyncApiPage(document: AsyncApiDocument, documentUrl = 'asyncapi.json'): string {
  const { info, channels, servers } = document
  const topics = Object.keys(channels)
  const links = topics.map((topic) => `<li><a href="#${escaped(topic)}">${escaped(topic)}</a></li>`).join('')
  const rows = Object.values(servers).map(({ host, protocol, description }) => [
    `<code>${escaped(host)}</code>`,
    escaped(protocol),
    escaped(description),
  ])
  const body = `<header><h1>${escaped(info.title)}: events</h1>
<p>Version ${escaped(info.version)} · <a href="${escaped(documentUrl)}">AsyncAPI document</a></p>
<nav aria-label="Topics"><ul>${links}</ul></nav></header>
<main>
${info.description
  .split('\n\n')
  .map((text) => `<p>${escaped(text)}</p>`)
  .join('\n')}
<h2 id="servers">Servers</h2>
${table('Servers', ['Address', 'Protocol', 'Description'], rows)}
${topics.map((topic) => topicPart(document, topic)).join('\n')}
</main>
<p id="told" class="told" role="status"></p>`
  return `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src ${asyncApiPageSources.styleSrc}; script-src ${asyncApiPageSources.scriptSrc}; base-uri 'none'; form-action ${asyncApiPageSources.formAction}">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>${escaped(info.title)}: events</title>
<style>${style}</style>
</head>
<body>
${body}
<script>${script}</script>
</body>
</html>
`
}

function topicPart(document: AsyncApiDocument, topic: string): string {
  const { channels, operations, components } = document
  const channel = channels[topic]
  if (!channel) return ''
  const uses = Object.values(operations).filter((operation) => nameIn(operation.channel) === topic)
  const messages = Object.entries(channel.messages)
    .map(([id, reference]) => ({ id, message: components.messages[nameIn(reference)] }))
    .map(({ id, message }) => (message ? messagePart(document, `${topic}-${id}`, id, message, uses) : ''))
  return `<section aria-labelledby="${escaped(topic)}">
<h2 id="${escaped(topic)}">Topic ${escaped(channel.address)}</h2>
<p>${escaped(channel.description)}</p>
<ul>${uses.map(({ title }) => `<li>${escaped(title)}</li>`).join('')}</ul>
${messages.join('\n')}
</section>`
}

function messagePart(
  { components }: AsyncApiDocument,
  anchor: string,
  id: string,
  { title, summary, payload, examples }: AsyncApiMessage,
  uses: AsyncApiOperation[],
): string {
  const rows = fieldRows(payload, components.schemas).map(({ path, type, description, isRequired, isPersonal }) => [
    `<code>${escaped(path)}</code>`,
    escaped(type),
    isRequired ? 'required' : 'optional',
    `${isPersonal ? '<strong class="personal">personal</strong> ' : ''}${escaped(description)}`,
  ])
  const who = uses.filter(({ messages }) => messages.some((reference) => nameIn(reference) === id))
  const shown = (examples ?? []).map((example, index) => {
    const target = `${anchor}-example-${index}`
    return `<figure><figcaption>${escaped(example.summary)}
<button type="button" data-copy="${escaped(target)}" aria-label="Copy the example of ${escaped(title)}">Copy</button></figcaption>
<pre id="${escaped(target)}" tabindex="0" aria-label="Example of ${escaped(title)}">${escaped(JSON.stringify(example.payload, null, 2))}</pre></figure>`
  })
  return `<details id="${escaped(anchor)}"><summary><h3>${escaped(title)}</h3></summary>
<p>${escaped(summary)}</p>
<p>${who.map((operation) => escaped(operation.title)).join('; ')}</p>
${table(`Fields of ${title}`, ['Field', 'Type', 'Presence', 'Meaning'], rows)}
${shown.join('\n')}
</details>`
}

function table(caption: string, heads: string[], rows: string[][]): string {
  const head = heads.map((text) => `<th scope="col">${escaped(text)}</th>`).join('')
  const body = rows
    .map(
      ([first = '', ...cells]) =>
        `<tr><th scope="row">${first}</th>${cells.map((cell) => `<td>${cell}</td>`).join('')}</tr>`,
    )
    .join('\n')
  return `<div class="wide" role="region" aria-label="${escaped(caption)}" tabindex="0"><table><caption>${escaped(caption)}</caption>
<thead><tr>${head}</tr></thead>
<tbody>${body}</tbody></table></div>`
}

const entities: Record<string, string> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;', "'": '&#39;' }
function escaped(text: string): string {
  return text.replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
}

function hashOf(text: string): string {
  return `sha256-${createHash('sha256').update(text).digest('base64')}`
}

interface FieldRow {
  /** Path from the root, such as `Payload.Field`. */
  path: string
  type: string
  description: string
  isRequired: boolean
  isPersonal: boolean
}

/** Returns all fields that a message's schema names, each object before its fields. */
function fieldRows(
  { properties = {}, required = [] }: JsonSchema,
  schemas: Record<string, JsonSchema>,
  base = '',
): FieldRow[] {
  return Object.entries(properties).flatMap(([name, field]) => {
    const known = filledIn(field, schemas)
    const path = `${base}${name}`
    const { description = '' } = known
    const row = {
      path,
      type: typeOf(known),
      description,
      isRequired: required.includes(name),
      isPersonal: known['x-pii'] === true,
    }
    return [row, ...fieldRows(known, schemas, `${path}.`)]
  })
}

/** Fills in references. The schema's own keywords override those of the referenced schema. */
function filledIn({ $ref, allOf = [], ...own }: JsonSchema, schemas: Record<string, JsonSchema>): JsonSchema {
  const parts = $ref ? [schemas[nameIn({ $ref })] ?? {}] : allOf
  const filled = parts.reduce<JsonSchema>((merged, part) => Object.assign(merged, filledIn(part, schemas)), {})
  return { ...filled, ...own }
}

/** Describes a type in words, such as `text, 1 to 200 characters`. */
function typeOf(schema: JsonSchema): string {
  const { type, enum: words, const: only, pattern, minLength, maxLength, minimum, maximum } = schema
  if (only !== undefined) return JSON.stringify(only)
  if (Array.isArray(words)) return words.map((word) => JSON.stringify(word)).join(' or ')
  if (schema.format === 'date') return 'date'
  if (schema.format === 'date-time') return 'date and time with offset'
  if (typeof pattern === 'string' && pattern.includes('{8}-')) return 'GUID'
  if (type === 'string') return `text${range(minLength, maxLength, ' characters')}`
  if (type === 'number' || type === 'integer')
    return `${type === 'integer' ? 'whole number' : 'number'}${range(minimum, maximum, '')}`
  return type ?? 'anything'
}

function range(from: unknown, to: unknown, unit: string): string {
  if (from === undefined && to === undefined) return ''
  if (from === undefined) return `, up to ${to}${unit}`
  return to === undefined ? `, from ${from}${unit}` : `, ${from} to ${to}${unit}`
}
