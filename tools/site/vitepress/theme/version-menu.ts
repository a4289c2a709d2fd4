import { useData, withBase } from 'vitepress'
import { defineComponent, h, onMounted, ref } from 'vue'

/** The folder with one folder for each version, and with the list of versions. */
const parent = () => withBase('/').replace(/[^/]+\/$/, '')

/** Lists the versions of the site. The list is a file of the host, so an old version also lists the later ones. */
export const VersionMenu = defineComponent(() => {
  const { theme } = useData<{ version: string }>()
  const present = theme.value.version
  const versions = ref([present])
  onMounted(async () => {
    const response = await fetch(`${parent()}versions.json`)
    if (response.ok) versions.value = await response.json()
  })
  const open = (event: Event) => {
    location.href = `${parent()}${(event.target as HTMLSelectElement).value}/`
  }
  return () =>
    h('label', { class: 'version-menu' }, [
      h('span', 'Version'),
      h(
        'select',
        { value: present, onChange: open },
        versions.value.map((version) => h('option', { value: version, selected: version === present }, version)),
      ),
    ])
})
