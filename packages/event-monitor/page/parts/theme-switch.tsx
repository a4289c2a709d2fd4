import { useSignal } from '@preact/signals'

type Theme = 'light' | 'dark' | ''
const following: Record<Theme, Theme> = { '': 'light', light: 'dark', dark: '' }
const words: Record<Theme, [string, string]> = {
  '': ['◐', 'Colours: as the system has them'],
  light: ['☼', 'Colours: light'],
  dark: ['☾', 'Colours: dark'],
}

/** Light, dark, or as the system has it; kept for this browser. */
export function ThemeSwitch() {
  const theme = useSignal((document.documentElement.dataset.theme ?? '') as Theme)
  const choose = () => {
    const next = following[theme.value]
    theme.value = next
    if (next) document.documentElement.dataset.theme = next
    else delete document.documentElement.dataset.theme
    try {
      localStorage.setItem('theme', next)
    } catch {
      // Then it holds until the page is left.
    }
    dispatchEvent(new Event('themechange'))
  }
  const [sign, label] = words[theme.value]
  return (
    <button type="button" class="plain" aria-label={label} title={label} onClick={choose}>
      {sign}
    </button>
  )
}
