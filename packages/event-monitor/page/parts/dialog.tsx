import type { ComponentChildren } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

interface Props {
  title: string
  close: () => void
  children: ComponentChildren
}

export function Dialog({ title, close, children }: Props) {
  const element = useRef<HTMLDialogElement>(null)
  useEffect(() => {
    const before = document.activeElement as HTMLElement | null
    element.current?.showModal()
    return () => before?.focus?.()
  }, [])
  return (
    <dialog ref={element} aria-labelledby="dialog-title" onClose={close}>
      <header>
        <h2 id="dialog-title">{title}</h2>
        <button type="button" class="plain" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </button>
      </header>
      {children}
    </dialog>
  )
}
