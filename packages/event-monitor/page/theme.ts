// Loaded before the page is drawn, so that nobody who chose dark sees a white flash.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // A browser may keep nothing: then the system decides.
}
