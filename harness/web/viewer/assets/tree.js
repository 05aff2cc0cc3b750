// From data to elements: the only place where elements of pictures are made. No text ever becomes markup.
const SVG_SPACE = "http://www.w3.org/2000/svg";
const HTML_TAGS = new Set(ALLOWED.html);
const SVG_TAGS = new Set(ALLOWED.svg);
const ATTRIBUTES = new Set(ALLOWED.attributes);

const byId = (id) => document.getElementById(id);

// What does nothing without a script is hidden until there is one.
for (const id of ["theme", "help-open"]) byId(id).hidden = false;

// An element of the page itself; strings among the children become text nodes.
function make(tag, attributes, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes || {})) node.setAttribute(name, value);
  node.append(...children);
  return node;
}

// A builder of one episode's pictures: [tag, {attributes}, child, ...], a text, or the number of a shared subtree.
function builder(shared) {
  const models = [];
  function build(tree) {
    if (typeof tree === "string") return document.createTextNode(tree);
    if (typeof tree === "number") return (models[tree] ??= build(shared[tree])).cloneNode(true);
    const [tag, attributes, ...children] = tree;
    if (!SVG_TAGS.has(tag) && !HTML_TAGS.has(tag)) throw new Error(`a picture has no element ${tag}`);
    const node = SVG_TAGS.has(tag) ? document.createElementNS(SVG_SPACE, tag) : document.createElement(tag);
    for (const [name, value] of Object.entries(attributes)) {
      if (!ATTRIBUTES.has(name)) throw new Error(`an element of a picture has no attribute ${name}`);
      node.setAttribute(name, value);
    }
    for (const child of children) node.append(build(child));
    return node;
  }
  return build;
}

// The badge of a seat, for the page itself.
function badge(seat) {
  return make("span", { class: `seat seat-${seat.colour}` }, seat.mark);
}
