import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { json, jsonParseLinter } from '@codemirror/lang-json'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { type Diagnostic, linter, lintGutter, lintKeymap } from '@codemirror/lint'
import { unifiedMergeView } from '@codemirror/merge'
import { EditorState, StateEffect } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import type { Fault } from '../../src/api/index.ts'
import { pointerRanges, rangeOf } from './json-ranges.ts'

export interface CodeEditor {
  setFaults(faults: readonly Fault[]): void
  setText(text: string): void
  destroy(): void
}

interface Options {
  host: HTMLElement
  label: string
  text: string
  /** The text before the edit. Differences to this text are marked. */
  original?: string | undefined
  changed: (text: string) => void
}

const refresh = StateEffect.define<null>()

/**
 * Opens a JSON editor in a shadow root. Outside of shadow roots, CodeMirror adds `style` elements, which the page's
 * security policy forbids.
 */
export function openEditor({ host, label, text, original, changed }: Options): CodeEditor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: 'open' })
  let faults: readonly Fault[] = []
  const view = new EditorView({
    root,
    parent: root,
    state: EditorState.create({
      doc: text,
      extensions: [
        lineNumbers(),
        history(),
        drawSelection(),
        indentOnInput(),
        bracketMatching(),
        highlightActiveLine(),
        EditorView.lineWrapping,
        EditorView.contentAttributes.of({
          'aria-label': label,
          spellcheck: 'false',
          autocorrect: 'off',
          autocapitalize: 'off',
        }),
        json(),
        syntaxHighlighting(colours),
        linter((shown) => diagnosticsOf(shown, faults), {
          delay: 200,
          needsRefresh: ({ transactions }) =>
            transactions.some(({ effects }) => effects.some((each) => each.is(refresh))),
        }),
        lintGutter(),
        ...(original === undefined ? [] : [unifiedMergeView({ original, mergeControls: false })]),
        theme,
        // These key maps do not use Tab, so Tab still moves to the next control.
        keymap.of([...defaultKeymap, ...historyKeymap, ...lintKeymap]),
        EditorView.updateListener.of(({ docChanged, state }) => {
          if (docChanged) changed(state.doc.toString())
        }),
      ],
    }),
  })
  return {
    setFaults(next) {
      faults = next
      view.dispatch({ effects: refresh.of(null) })
    },
    setText(next) {
      view.dispatch({ changes: { from: 0, to: view.state.doc.length, insert: next } })
    },
    destroy: () => view.destroy(),
  }
}

function diagnosticsOf(view: EditorView, faults: readonly Fault[]): Diagnostic[] {
  const broken = jsonParseLinter()(view)
  if (broken.length > 0) return broken
  const ranges = pointerRanges(view.state.doc.toString())
  return faults.map(({ pointer, message, hint }) => ({
    ...rangeOf(ranges, pointer),
    severity: 'error' as const,
    message: `${pointer} ${message}${hint ? `: ${hint}` : ''}`,
  }))
}

const colours = HighlightStyle.define([
  { tag: tags.propertyName, color: 'var(--accent)' },
  { tag: tags.string, color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--warn)' },
])

const theme = EditorView.theme({
  '&': {
    backgroundColor: 'var(--surface)',
    color: 'var(--text)',
    border: '1px solid var(--line)',
    borderRadius: '6px',
    fontSize: '13px',
  },
  '&.cm-focused': { outline: '2px solid var(--accent)' },
  '.cm-scroller': { fontFamily: 'var(--mono)' },
  '.cm-content': { caretColor: 'var(--text)', minHeight: '6rem' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--raised)', color: 'var(--muted)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'transparent' },
  '&.cm-focused .cm-activeLine': { boxShadow: 'inset 0 0 0 1px var(--line)' },
  '&.cm-focused > .cm-scroller > .cm-selectionLayer .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'var(--accent-soft)',
  },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', color: 'var(--text)', border: '1px solid var(--line)' },
  // Replaces CodeMirror's image, because the page's security policy forbids it.
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textDecorationSkipInk: 'none',
  },
  '.cm-lint-marker-error': { content: 'normal', color: 'var(--bad)', fontWeight: '700', textAlign: 'center' },
  '.cm-lint-marker-error::before': { content: '"✕"' },
  '.cm-diagnostic-error': { borderLeftColor: 'var(--bad)' },
  '.cm-deletedChunk': { backgroundColor: 'var(--bad-soft)', color: 'var(--text)' },
  '.cm-deletedChunk .cm-deletedText, .cm-deletedText': {
    background: 'none',
    textDecoration: 'line-through',
    textDecorationColor: 'var(--bad)',
  },
  '&.cm-merge-b .cm-changedLine, .cm-changedLine': { backgroundColor: 'var(--accent-soft)' },
  '&.cm-merge-b .cm-changedText': {
    background: 'none',
    textDecoration: 'underline',
    textDecorationColor: 'var(--accent)',
    textUnderlineOffset: '3px',
  },
})
