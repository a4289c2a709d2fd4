import type { Fault } from '../../src/api/index.ts'
import { type JsonLine, jsonLines } from '../lib/json.ts'

interface Props {
  label: string
  document: unknown
  faults?: readonly Fault[]
}

export function JsonView({ label, document, faults = [] }: Props) {
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrollable region must be reachable by keys
    <div class="json" role="region" aria-label={label} tabIndex={0}>
      {jsonLines(document, faults).map((line, index) => (
        <Line key={index} line={line} number={index + 1} />
      ))}
    </div>
  )
}

function Line({ line: { depth, tokens, faults }, number }: { line: JsonLine; number: number }) {
  return (
    <>
      <div class={`json-line${faults.length > 0 ? ' is-wrong' : ''}`}>
        <span class="number" aria-hidden="true">
          {number}
        </span>
        <code style={{ paddingLeft: `${depth * 1.2}rem` }}>
          {tokens.map(({ kind, text }, index) =>
            kind === 'masked' ? (
              <span key={index} class="masked" title={`Masked personal value: ${text}`}>
                <span aria-hidden="true">▒▒▒</span> <span class="masked-name">masked</span>
              </span>
            ) : (
              <span key={index} class={`token-${kind}`}>
                {text}
              </span>
            ),
          )}
        </code>
      </div>
      {faults.map((fault) => (
        <p key={`${fault.pointer}${fault.message}`} class="fault-line">
          <span aria-hidden="true">✕</span> <FaultText fault={fault} />
        </p>
      ))}
    </>
  )
}

const FaultText = ({ fault: { pointer, message, hint } }: { fault: Fault }) => (
  <>
    <code>{pointer || '(document)'}</code> {message}
    {hint && <span class="hint">: {hint}</span>}
  </>
)

export const FaultList = ({ faults }: { faults: readonly Fault[] }) => (
  <ul class="faults">
    {faults.map((fault) => (
      <li key={`${fault.pointer}${fault.message}`}>
        <FaultText fault={fault} />
      </li>
    ))}
  </ul>
)
