/** Colours follow the system's theme, with a contrast of at least 4.5 (WCAG 2.2, 1.4.3). */
export const style = `
:root { color-scheme: light dark; --line: light-dark(#ccd2d9, #3b434d); --soft: light-dark(#f4f6f8, #1c2127);
  --text: light-dark(#1b1f24, #e6e9ed); --page: light-dark(#fff, #12161b); --accent: light-dark(#0b57a4, #7ab8ff);
  --personal: light-dark(#9a3412, #ffb38a) }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 70rem; padding: 1rem; background: var(--page); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif }
h1, h2, h3 { line-height: 1.25 }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line) }
a { color: var(--accent) }
nav ul { display: flex; flex-wrap: wrap; gap: 1rem; padding: 0; list-style: none }
details { margin: .75rem 0; border: 1px solid var(--line); border-radius: .4rem; padding: 0 1rem }
summary { cursor: pointer; padding: .5rem 0 }
summary h3 { display: inline; font-size: 1.05rem }
.wide { overflow-x: auto }
table { width: 100%; border-collapse: collapse; font-size: .92rem }
caption { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%) }
th, td { padding: .4rem .6rem; border-bottom: 1px solid var(--line); text-align: start; vertical-align: top }
th[scope=row] { font-weight: normal }
code, pre { font-family: ui-monospace, monospace; font-size: .88rem }
pre { margin: .5rem 0 1rem; padding: .8rem; overflow-x: auto; background: var(--soft); border-radius: .4rem }
figure { margin: 1rem 0 }
figcaption { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 1rem }
button { font: inherit; color: inherit; background: var(--soft); border: 1px solid var(--line); border-radius: .4rem;
  padding: .2rem .8rem; cursor: pointer }
:focus-visible { outline: 3px solid var(--accent); outline-offset: 2px }
.personal { color: var(--personal) }
.told { position: fixed; bottom: 1rem; right: 1rem; margin: 0; padding: .4rem .8rem; background: var(--soft) }
.told:empty { display: none }
`

export const script = `
for (const button of document.querySelectorAll('[data-copy]')) button.addEventListener('click', async () => {
  const example = document.getElementById(button.dataset.copy), told = document.getElementById('told')
  try {
    await navigator.clipboard.writeText(example.textContent)
    told.textContent = 'Copied'
  } catch {
    getSelection().selectAllChildren(example)
    told.textContent = 'Selected: press Ctrl+C to copy'
  }
  setTimeout(() => { told.textContent = '' }, 4000)
})
const open = () => document.getElementById(decodeURIComponent(location.hash.slice(1)))?.closest('details')?.setAttribute('open', '')
addEventListener('hashchange', open)
open()
`
