import { useSignal } from '@preact/signals'
import { useEffect, useRef } from 'preact/hooks'
import type { Fault } from '../../src/api/index.ts'
import type { CodeEditor } from './code-editor.ts'

interface Props {
  label: string
  /** The initial text. A later text is shown only after `resets` has changed. */
  text: string
  resets?: number
  original?: string | undefined
  faults: readonly Fault[]
  changed: (text: string) => void
}

/** A JSON editor, or a plain text field if the code of the editor cannot be loaded. */
export function Editor({ label, text, resets = 0, original, faults, changed }: Props) {
  const host = useRef<HTMLDivElement>(null)
  const editor = useRef<CodeEditor | null>(null)
  const shown = useRef(text)
  const latest = useRef(changed)
  latest.current = changed
  const state = useSignal<'loading' | 'open' | 'plain'>('loading')
  useEffect(() => {
    let ended = false
    import('./code-editor.ts').then(
      ({ openEditor }) => {
        if (ended || !host.current) return
        editor.current = openEditor({
          host: host.current,
          label,
          text: shown.current,
          original,
          changed: (next) => {
            shown.current = next
            latest.current(next)
          },
        })
        state.value = 'open'
      },
      () => {
        state.value = 'plain'
      },
    )
    return () => {
      ended = true
      editor.current?.destroy()
      editor.current = null
    }
  }, [original])
  useEffect(() => {
    // Depends only on `resets`, because `text` may be older than the text in the editor.
    if (text === shown.current) return
    shown.current = text
    editor.current?.setText(text)
  }, [resets])
  useEffect(() => editor.current?.setFaults(faults), [faults, state.value])
  if (state.value === 'plain') {
    return (
      <textarea
        class="plain-editor"
        aria-label={label}
        rows={20}
        value={text}
        onInput={({ currentTarget }) => changed(currentTarget.value)}
      />
    )
  }
  return (
    <>
      {state.value === 'loading' && <p class="loading">The editor is loading…</p>}
      <div class="editor" ref={host} />
    </>
  )
}
