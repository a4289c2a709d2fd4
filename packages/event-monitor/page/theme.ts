// Loaded before the page is drawn, so that a dark theme never starts with a white flash.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // Without storage the system's theme applies.
}
