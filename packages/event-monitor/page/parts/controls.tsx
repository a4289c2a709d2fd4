import type { ComponentChildren, JSX } from 'preact'
import { useEffect, useRef } from 'preact/hooks'
import { may } from '../data/api.ts'

type ButtonProps = JSX.IntrinsicElements['button'] & {
  /** The scope of the action. Without this scope, the button is disabled. */
  needs?: Parameters<typeof may>[0]
}

/** A button that does not submit its form, unless `type` is `submit`. */
export function Button({ needs, ...props }: ButtonProps) {
  const lacks = needs !== undefined && !may(needs) && { disabled: true, title: `This action needs the scope ${needs}` }
  return <button type="button" {...props} {...lacks} />
}

interface ChoicesProps<Value> {
  of: readonly (readonly [value: Value, text: string])[]
  chosen: Value | undefined
  choose: (value: Value) => void
}

/** Buttons of which one is pressed. The caller adds a group with a name. */
export function Choices<Value extends string | number | null>({ of, chosen, choose }: ChoicesProps<Value>) {
  return of.flatMap(([value, text]) => [
    <Button key={value} aria-pressed={value === chosen} onClick={() => choose(value)}>
      {text}
    </Button>,
    ' ',
  ])
}

interface DialogProps {
  title: string
  close: () => void
  children: ComponentChildren
}

export function Dialog({ title, close, children }: DialogProps) {
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
        <Button class="plain" aria-label="Close" onClick={() => element.current?.close()}>
          ✕
        </Button>
      </header>
      {children}
    </dialog>
  )
}
