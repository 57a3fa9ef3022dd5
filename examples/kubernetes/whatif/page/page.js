'use strict';
(() => {
  const data = JSON.parse(document.getElementById('data').textContent);
  const $ = id => document.getElementById(id);
  const PAGE = 100;
  const CHANGES = 0, WOULD = 1;
  const VICTIM = 1, OTHER = 2;
  const states = ['changes', 'would do', data.others];
  let resource = data.first, shown = PAGE;
  const wanted = new Set(states.keys());

  const make = (tag, options = {}, ...children) => {
    const {cls, ...rest} = options;
    const e = document.createElement(tag);
    if (cls) e.className = cls;
    for (const [key, value] of Object.entries(rest)) e.setAttribute(key, value);
    e.append(...children);
    return e;
  };

  // A pod in the data is a list: name, level, amount, mark, group.
  const podOf = ([name, level, amount, mark, group]) => ({
    name, mark, priority: data.levels[level], colour: colourOf(level), amount: data.amounts[amount], group: data.groups[group],
  });
  const SHADES = 7;
  const colourOf = level => 'l' + (data.levels.length < 2 ? 3 : Math.floor(level * (SHADES - 1) / (data.levels.length - 1)));
  const sizeOf = pod => pod.amount.n[resource];
  const sum = pods => pods.reduce((n, p) => n + sizeOf(p), 0);

  const bar = (label, room, pods, come) => {
    const used = sum(pods) + sum(come), scale = Math.max(used, room) || 1;
    const segments = make('span', {cls: 'bar'});
    for (const [list, coming] of [[pods, false], [come, true]]) {
      for (const p of list) {
        const size = sizeOf(p);
        if (!size && !coming && p.mark === 0) continue;
        const kind = coming ? ' comes' : p.mark === VICTIM ? ' victim' : p.mark === OTHER ? ' other' : '';
        const what = coming ? 'comes' : p.mark === VICTIM ? 'is evicted' : p.mark === OTHER ? 'would be evicted' : 'stays';
        const s = make('span', {cls: p.colour + kind, 'data-pod': p.name,
          title: `${p.name}${p.group ? ' of ' + p.group : ''}: ${what}, priority ${p.priority}, ${data.resources[resource]} ${p.amount.t[resource]}`});
        s.style.width = `${100 * size / scale}%`;
        segments.append(s);
      }
    }
    const share = room ? `${Math.round(100 * used / room)} %` : used ? 'none offered' : 'none';
    return make('span', {cls: 'line'}, make('span', {cls: 'when'}, label), segments, make('span', {cls: 'share'}, share));
  };

  // said is what a node tells somebody who sees no bars.
  const said = (pods, come) => {
    const named = (list, what) => list.length ? `, ${what}: ${list.map(p => p.name).join(', ')}` : '';
    return `${pods.length} pods` + named(pods.filter(p => p.mark === VICTIM), 'evicted') +
      named(pods.filter(p => p.mark === OTHER), 'would be evicted') + named(come, 'coming');
  };

  const table = (pods, come) => {
    const head = ['Pod', 'Group', 'Priority', ...data.resources, 'What becomes of it'];
    const rows = [...pods.map(p => [p, ['stays', 'is evicted', 'would be evicted'][p.mark]]), ...come.map(p => [p, 'comes'])];
    return make('div', {cls: 'wide'}, make('table', {},
      make('thead', {}, make('tr', {}, ...head.map((h, i) => make('th', {scope: 'col', cls: i > 1 && i < head.length - 1 ? 'number' : ''}, h)))),
      make('tbody', {}, ...rows.map(([p, what]) => make('tr', {cls: what.split(' ')[0] + ' pod'},
        make('th', {scope: 'row'}, p.name), make('td', {}, p.group),
        make('td', {cls: 'number'}, make('span', {cls: 'chip ' + p.colour}), String(p.priority)),
        ...p.amount.t.map(t => make('td', {cls: 'number'}, t)), make('td', {}, what))))));
  };

  const row = n => {
    const pods = n.pods.map(podOf), come = (n.come || []).map(podOf), room = data.amounts[n.room].n[resource];
    const after = n.state === CHANGES ? pods.filter(p => p.mark !== VICTIM) : null;
    const bars = make('span', {cls: 'bars', 'aria-hidden': 'true'}, bar(after ? 'now' : '', room, pods, []));
    if (after) bars.append(bar('then', room, after, come));
    const d = make('details', {cls: 'node s' + n.state, 'data-node': n.name}, make('summary', {},
      make('span', {cls: 'name'}, n.name), make('span', {cls: 'state'}, states[n.state]), bars,
      make('span', {cls: 'unseen'}, said(pods, come)), make('span', {cls: 'why'}, n.why || '')));
    d.addEventListener('toggle', () => {
      if (d.open && !d.querySelector('table')) d.append(table(pods, come));
    });
    return d;
  };

  const searched = data.nodes.map(n => [n.name, n.why || '', states[n.state],
    ...[...n.pods, ...(n.come || [])].map(p => p[0] + ' ' + data.groups[p[4]])].join('\n').toLowerCase());

  const draw = () => {
    const words = $('filter').value.toLowerCase().split(/\s+/).filter(Boolean);
    const matches = data.nodes.filter((n, i) => wanted.has(n.state) && words.every(w => searched[i].includes(w)));
    const open = new Set([...document.querySelectorAll('details.node[open]')].map(d => d.dataset.node));
    const rows = matches.slice(0, shown).map(row);
    for (const r of rows) r.open = open.has(r.dataset.node);
    $('nodes').replaceChildren(...rows);
    $('count').textContent = `${matches.length} of ${data.nodes.length} nodes` +
      (matches.length > rows.length ? `, of which ${rows.length} are drawn` : '');
    $('more').hidden = matches.length <= rows.length;
    $('more').textContent = `Draw ${Math.min(5 * PAGE, matches.length - rows.length)} more`;
  };

  const legend = () => {
    const entry = (cls, text) => make('li', {}, make('span', {cls: 'chip ' + cls}), text);
    const ranges = new Map();
    data.levels.forEach((p, i) => ranges.set(colourOf(i), [...(ranges.get(colourOf(i)) || []), p]));
    const list = [...ranges].map(([cls, r]) =>
      entry(cls, (r.length > 1 ? `${r[0]} to ${r[r.length - 1]}` : `${r[0]}`)));
    if (list.length) list[0].prepend('Priority: ');
    list.push(entry('victim', 'is evicted'));
    if (data.nodes.some(n => n.state === WOULD)) list.push(entry('other', 'would be evicted there'));
    list.push(entry('comes', `comes, at priority ${data.level}`));
    $('legend').replaceChildren(...list);
  };

  if (!data.nodes.length) return;
  $('cluster').hidden = false;
  data.resources.forEach((name, i) => $('resource').append(new Option(name, i, i === resource, i === resource)));
  states.forEach((name, state) => {
    const count = data.nodes.filter(n => n.state === state).length;
    if (!count) return;
    const b = make('button', {type: 'button', 'aria-pressed': 'true', 'data-state': state}, `${name}: ${count}`);
    b.addEventListener('click', () => {
      if (!wanted.delete(state)) wanted.add(state);
      b.setAttribute('aria-pressed', wanted.has(state));
      draw();
    });
    $('states').append(b);
  });
  $('controls').addEventListener('submit', e => e.preventDefault());
  $('filter').addEventListener('input', () => { shown = PAGE; draw(); });
  $('resource').addEventListener('change', e => { resource = Number(e.target.value); draw(); });
  $('more').addEventListener('click', () => { shown += 5 * PAGE; draw(); });
  document.addEventListener('keydown', e => {
    if (e.ctrlKey || e.metaKey || e.altKey) return;
    const typing = e.target.matches('input, select');
    if (e.key === '/' && !typing) {
      e.preventDefault();
      $('filter').focus();
    } else if (e.key === 'Escape' && e.target === $('filter')) {
      $('filter').value = '';
      shown = PAGE;
      draw();
    } else if (['ArrowDown', 'ArrowUp', 'Home', 'End'].includes(e.key) && (!typing || e.target === $('filter') && e.key === 'ArrowDown')) {
      const all = [...document.querySelectorAll('details.node > summary')];
      const at = all.indexOf(document.activeElement);
      if (at < 0 && (e.key === 'Home' || e.key === 'End')) return;
      const next = {ArrowDown: at + 1, ArrowUp: at - 1, Home: 0, End: all.length - 1}[e.key];
      if (!all[next]) return;
      e.preventDefault();
      all[next].focus();
    }
  });
  legend();
  draw();
})();
