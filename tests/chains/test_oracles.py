"""Chains of random trees against Pinocchio and KDL, which know nothing of MuJoCo's engine."""

from __future__ import annotations

import pytest
from hypothesis import assume, given, settings

from tests.chains.comparisons import agree
from tests.chains.oracles import Kdl, lump, pinocchio_of
from tests.chains.random_trees import trees

pin = pytest.importorskip("pinocchio")


def chain_and_lump(tree):
    chain = tree.chain(branches=False)
    assume(chain.n_joints)
    if tree.tool is None:
        return chain, []
    return chain, [lump(tree.model, tree.data, tree.model.body(tree.tool).id, chain.tip_body)]


@given(trees(least=1))
@settings(deadline=None, max_examples=40)
def test_everything_is_pinocchios(tree):
    chain, lumped = chain_and_lump(tree)
    agree(chain, pinocchio_of(pin, chain, tree.data, lumped), tree.rng)


@given(trees(least=1))
@settings(deadline=None, max_examples=40)
def test_everything_is_kdls(tree):
    kdl = pytest.importorskip("PyKDL")
    chain, lumped = chain_and_lump(tree)
    agree(chain, Kdl(kdl, chain, tree.data, lumped), tree.rng)
