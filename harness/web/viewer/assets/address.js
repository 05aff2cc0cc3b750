// The page's address: what is shown stands behind its #, so that it can be linked to, reloaded and gone back to.
// An episode: #step=17 or #frame=23, both from 0; in a run #episode=KEY before it. An index: its filters. Any: theme=dark.
const asked = () => new URLSearchParams(location.hash.slice(1).replaceAll("+", "%2B"));

const written = (value) => encodeURIComponent(value).replaceAll("%2F", "/");

// What stands behind the #: pairs whose value is null or empty are left out.
const joined = (pairs) => pairs.filter(([, value]) => value !== null && value !== "").map(([name, value]) => `${name}=${written(value)}`).join("&");

function writeAddress(pairs) {
  const hash = joined(pairs);
  if (location.hash.slice(1) === hash) return;
  history.replaceState(null, "", `#${hash}`);
}
