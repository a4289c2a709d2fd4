// Runs before the page is drawn, to avoid a white flash.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Without storage, the system's theme applies.
}
