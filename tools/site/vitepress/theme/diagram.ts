import program from '@mermaid-js/tiny/dist/mermaid.tiny.js?url'
import { useData } from 'vitepress'
import { defineComponent, h, onMounted, ref, watch } from 'vue'

interface Mermaid {
  initialize: (settings: object) => void
  render: (id: string, code: string) => Promise<{ svg: string }>
}

let diagrams = 0

/** Loads mermaid on demand, because few pages have a diagram. It is a script that sets a global variable, so it cannot be imported. */
async function loadMermaid(): Promise<Mermaid> {
  const scope = globalThis as unknown as { mermaid?: Mermaid }
  if (!scope.mermaid) {
    const script = Object.assign(document.createElement('script'), { src: program })
    document.head.append(script)
    await new Promise((resolve, reject) => Object.assign(script, { onload: resolve, onerror: reject }))
  }
  return scope.mermaid as Mermaid
}

/** Draws a diagram in the colours of the page. Shows its source until then, and in browsers without JavaScript. */
export const Diagram = defineComponent(
  ({ code, name }: { code: string; name: string }) => {
    const { isDark } = useData()
    const source = decodeURIComponent(code)
    const svg = ref('')
    const draw = async () => {
      const mermaid = await loadMermaid()
      const flowchart = { padding: 8, nodeSpacing: 16, rankSpacing: 36, subGraphTitleMargin: { top: 4, bottom: 12 } }
      const themeVariables = isDark.value ? { edgeLabelBackground: '#333' } : {}
      mermaid.initialize({
        startOnLoad: false,
        theme: isDark.value ? 'dark' : 'neutral',
        themeVariables,
        flowchart,
      })
      diagrams += 1
      const drawn = await mermaid.render(`diagram-${diagrams}`, source)
      // In a narrow window, a diagram shrinks to this share of its width, and can then be scrolled.
      const width = Number(/viewBox="\S+ \S+ (\S+)/.exec(drawn.svg)?.[1]) * 0.5
      svg.value = drawn.svg
        .replace('<svg ', `<svg aria-label="Diagram: ${name.replaceAll('-', ' ')}" `)
        .replace('style="', `style="min-width: ${width}px; `)
    }
    onMounted(() => watch(isDark, draw, { immediate: true }))
    return () =>
      svg.value
        ? h('div', { class: 'diagram', tabindex: 0, innerHTML: svg.value })
        : h('pre', { class: 'diagram', tabindex: 0 }, source)
  },
  { props: ['code', 'name'] },
)
