// Runs before the page is drawn, to avoid a white flash in the dark theme.
try {
  const chosen = localStorage.getItem('theme')
  if (chosen === 'light' || chosen === 'dark') document.documentElement.dataset.theme = chosen
} catch {
  // The browser has no storage, so the system's theme applies.
}
